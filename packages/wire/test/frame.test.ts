import { describe, expect, test } from 'vitest'
import {
  concat,
  ConnectResponse,
  decode,
  encode,
  encodeFrame,
  FrameDecoder,
  FrameTooLargeError,
  JUTE_MAXBUFFER,
  ProtocolError,
  ReplyHeader,
} from '../src/index.ts'
import { bytesOf, hexOf, joined } from './bytes.ts'
import { byteByByte, expectFrames, framesOf } from './feeding.ts'
import { thrownBy } from './thrown.ts'

const ONE = bytesOf('00000001 aa')
const EMPTY = bytesOf('00000000')
const THREE = bytesOf('00000003 bbccdd')
const MIB = 1024 * 1024

describe('FrameDecoder cuts a stream into frames', () => {
  test('FrameDecoder gives the body of a frame, whole, byte by byte, and with more behind (W01)', () => {
    expectFrames(THREE, [bytesOf('bbccdd')])
  })

  test('FrameDecoder gives many frames of one chunk in their order (W01)', () => {
    expectFrames(joined(ONE, EMPTY, THREE, ONE), [bytesOf('aa'), bytesOf(''), bytesOf('bbccdd'), bytesOf('aa')])
  })

  test('FrameDecoder gives the same frames wherever the stream is cut in three (W01)', () => {
    const stream = joined(ONE, EMPTY, THREE)
    const different: string[] = []
    for (let first = 0; first <= stream.byteLength; first++) {
      for (let second = first; second <= stream.byteLength; second++) {
        const chunks = [stream.subarray(0, first), stream.subarray(first, second), stream.subarray(second)]
        if (framesOf(chunks).join() !== 'aa,,bbccdd') different.push(`${first}, ${second}`)
      }
    }
    expect(different).toEqual([])
  })

  test('FrameDecoder gives frames pushed before the first is asked for', () => {
    const decoder = new FrameDecoder()
    for (const chunk of [...byteByByte(ONE), THREE, ...byteByByte(THREE), EMPTY]) decoder.push(chunk)
    expect(drain(decoder)).toEqual(['aa', 'bbccdd', 'bbccdd', ''])
  })

  test('FrameDecoder keeps half a length until the rest arrives', () => {
    const decoder = new FrameDecoder()
    decoder.push(bytesOf('0000'))
    expect(decoder.next()).toBeUndefined()
    decoder.push(bytesOf('0001'))
    expect(decoder.next()).toBeUndefined()
    decoder.push(bytesOf('aa'))
    expect(decoder.next()).toEqual(bytesOf('aa'))
    expect(decoder.next()).toBeUndefined()
  })

  test('FrameDecoder gives an empty body for a length of 0 (W05)', () => {
    expectFrames(EMPTY, [bytesOf('')])
  })

  test('FrameDecoder takes an empty chunk for nothing', () => {
    const decoder = new FrameDecoder()
    decoder.push(bytesOf(''))
    expect(decoder.next()).toBeUndefined()
    decoder.push(ONE)
    decoder.push(bytesOf(''))
    expect(drain(decoder)).toEqual(['aa'])
  })
})

describe('A body short of a header', () => {
  test.each(['00000000', '00000004 00000001', '0000000f 00000001 0000000000000002 000000'])(
    'ReplyHeader refuses that of %s (W05)',
    (hex) => {
      const decoder = new FrameDecoder()
      decoder.push(bytesOf(hex))
      expect(() => decode(ReplyHeader, decoder.next()!)).toThrow(ProtocolError)
    },
  )
})

describe('FrameDecoder refuses lengths', () => {
  test.each([
    ['ffffffff', 'a frame cannot have -1 bytes'],
    ['80000000', 'a frame cannot have -2147483648 bytes'],
    ['7fffffff', 'a frame of 2147483647 bytes is over the limit of 4194304'],
    ['00400001', 'a frame of 4194305 bytes is over the limit of 4194304'],
  ])('FrameDecoder throws a ProtocolError at the length %s, and says it (W02, W03, W04)', (length, message) => {
    for (const chunks of [[bytesOf(length)], byteByByte(bytesOf(length))]) {
      const error = thrownBy(() => framesOf(chunks))
      expect(error).toBeInstanceOf(ProtocolError)
      expect(error).toHaveProperty('message', message)
    }
  })

  test('FrameDecoder says size and limit of a frame over the limit (W04)', () => {
    const error = thrownBy(() => framesOf([bytesOf('00000004')], { limit: 3 }))
    expect(error).toBeInstanceOf(FrameTooLargeError)
    expect(error).toMatchObject({ size: 4, limit: 3 })
  })

  test('FrameDecoder accepts a frame of exactly the limit (W04)', () => {
    expectFrames(THREE, [bytesOf('bbccdd')], { limit: 3 })
  })

  test('FrameDecoder accepts 4 MiB by default, and an answer to the longest request', () => {
    const longest = new Uint8Array(4 * MIB)
    expect(JUTE_MAXBUFFER).toBe(MIB - 1)
    expect(framesOf([bytesOf('00400000'), longest])).toHaveLength(1)
  })

  test('FrameDecoder gives the frames before a length that cannot be, throws once, and then gives nothing (W03)', () => {
    const decoder = new FrameDecoder()
    decoder.push(joined(ONE, bytesOf('ffffffff'), THREE))
    expect(decoder.next()).toEqual(bytesOf('aa'))
    expect(() => decoder.next()).toThrow(ProtocolError)
    expect(decoder.next()).toBeUndefined()
    decoder.push(ONE)
    expect(decoder.next()).toBeUndefined()
  })
})

describe('FrameDecoder shows text in place of a frame', () => {
  test.each([
    'This ZooKeeper instance is not currently serving requests\n',
    'HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n',
    'SSH-2.0-OpenSSH_9.6\r\n',
    'zk_version\t3.9.5\n',
  ])('FrameDecoder quotes %j (W32, W16)', (text) => {
    const error = thrownBy(() => framesOf([Buffer.from(text, 'latin1')]))
    expect(error).toBeInstanceOf(ProtocolError)
    expect(error).toHaveProperty('message', `text in place of a frame: ${JSON.stringify(text.trim())}`)
  })

  test('FrameDecoder quotes text that comes byte by byte as far as it has come (W32)', () => {
    expect(() => framesOf(byteByByte(Buffer.from('This ZooKeeper')))).toThrow('text in place of a frame: "This"')
  })

  test('FrameDecoder quotes no more than 200 characters (W32)', () => {
    expect(() => framesOf([Buffer.from('x'.repeat(100_000))])).toThrow(`text in place of a frame: "${'x'.repeat(200)}"`)
  })

  test('FrameDecoder speaks of the length where the bytes are no text, as in an alert of TLS (W16)', () => {
    expect(() => framesOf([bytesOf('15030300020246')])).toThrow(
      'a frame of 352518912 bytes is over the limit of 4194304',
    )
  })

  test('FrameDecoder takes text for a frame where its length is within the limit', () => {
    expect(framesOf([joined(bytesOf('00000004'), Buffer.from('text'))])).toEqual([hexOf(Buffer.from('text'))])
  })
})

describe('FrameDecoder and memory', () => {
  test('FrameDecoder allocates nothing for bytes that have not come (W02)', () => {
    const decoder = new FrameDecoder({ limit: 2 ** 31 - 1 })
    const before = process.memoryUsage().arrayBuffers
    decoder.push(bytesOf('7ffffffe'))
    expect(decoder.next()).toBeUndefined()
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(MIB)
  })

  test('FrameDecoder copies nothing of a frame that comes in one chunk', () => {
    const decoder = new FrameDecoder()
    decoder.push(THREE)
    expect(decoder.next()!.buffer).toBe(THREE.buffer)
  })

  test("FrameDecoder gives plain Uint8Arrays for Node's Buffers, whole and byte by byte", () => {
    for (const chunks of [[Buffer.from(THREE)], byteByByte(THREE).map((byte) => Buffer.from(byte))]) {
      const decoder = new FrameDecoder()
      for (const chunk of chunks) decoder.push(chunk)
      const frame = decoder.next()!
      expect(Object.getPrototypeOf(frame)).toBe(Uint8Array.prototype)
      expect(frame).toEqual(bytesOf('bbccdd'))
    }
  })

  test('FrameDecoder leaves out what surrounds a chunk in its memory', () => {
    const memory = joined(bytesOf('ffffff'), THREE, bytesOf('ffffff'))
    expect(framesOf([Buffer.from(memory.buffer, 3, THREE.byteLength)])).toEqual(['bbccdd'])
  })

  test('FrameDecoder needs no more memory for a frame in chunks of one byte than for its bytes', () => {
    const decoder = new FrameDecoder()
    const { heapUsed } = process.memoryUsage()
    decoder.push(bytesOf('00100000'))
    for (let pushed = 0; pushed < MIB; pushed++) decoder.push(Uint8Array.of(pushed))
    // A typed array for each byte would be some 200 MB. What was thrown away since is counted here as well.
    expect(process.memoryUsage().heapUsed - heapUsed).toBeLessThan(120 * MIB)
    const frame = decoder.next()!
    expect(frame).toHaveLength(MIB)
    expect(frame.every((byte, index) => byte === (index & 0xff))).toBe(true)
  })

  test('FrameDecoder gives the same frames from chunks around the size up to which they are put together', () => {
    const bodies = [1, 4_090, 4_096, 9_000, 3].map((size) => new Uint8Array(size).fill(size))
    const stream = joined(...bodies.map((body) => encodeFrame((writer) => writer.raw(body))))
    for (const size of [1, 3, 100, 4_095, 4_096, 4_097, 8_200]) {
      const chunks: Uint8Array[] = []
      for (let at = 0; at < stream.byteLength; at += size) chunks.push(stream.subarray(at, at + size))
      expect(framesOf(chunks)).toEqual(bodies.map(hexOf))
      const decoder = new FrameDecoder()
      for (const chunk of chunks) decoder.push(chunk)
      expect(drain(decoder)).toEqual(bodies.map(hexOf))
    }
  })

  test('FrameDecoder drains 20,000 frames of one chunk, and as many chunks of one frame', () => {
    const many = 20_000
    expect(framesOf([joined(...Array.from({ length: many }, () => ONE))])).toHaveLength(many)
    const decoder = new FrameDecoder()
    for (let pushed = 0; pushed < many; pushed++) decoder.push(ONE)
    expect(drain(decoder)).toHaveLength(many)
  })
})

describe('FrameDecoder.push', () => {
  test.each<[string, unknown]>([
    ['a string, as a socket with an encoding gives', 'ruok'],
    ['an array', [0, 0, 0, 0]],
    ['an ArrayBuffer', new ArrayBuffer(4)],
    ['a DataView', new DataView(new ArrayBuffer(4))],
    ['items of two bytes', new Uint16Array(2)],
    ['nothing', undefined],
  ])('FrameDecoder.push refuses %s', (_what, chunk) => {
    expect(() => new FrameDecoder().push(chunk as Uint8Array)).toThrow(TypeError)
  })

  test('FrameDecoder.push says what would be right', () => {
    expect(() => new FrameDecoder().push('ruok' as unknown as Uint8Array)).toThrow(
      new TypeError('buffer must be a Uint8Array, not string'),
    )
  })
})

describe('FrameDecoder.takeText', () => {
  const text = (decoder: FrameDecoder) => {
    const bytes = decoder.takeText()
    return bytes && Buffer.from(bytes).toString('latin1')
  }

  test('FrameDecoder.takeText gives what comes in place of a frame, once four bytes of it are here', () => {
    const decoder = new FrameDecoder()
    for (const byte of byteByByte(Buffer.from('ruo'))) {
      decoder.push(byte)
      expect(text(decoder)).toBeUndefined()
    }
    decoder.push(Buffer.from('k'))
    expect(text(decoder)).toBe('ruok')
    expect(text(decoder)).toBeUndefined()
  })

  test('FrameDecoder.takeText gives everything behind text, whatever it is', () => {
    const decoder = new FrameDecoder()
    decoder.push(Buffer.from('stmk\0\0', 'latin1'))
    expect(text(decoder)).toBe('stmk\0\0')
    decoder.push(bytesOf('00'))
    decoder.push(bytesOf('000001aa'))
    expect(text(decoder)).toBe('\0\0\0\x01\xaa')
  })

  test('FrameDecoder.takeText returns everything if the stream is text', () => {
    const decoder = new FrameDecoder()
    expect(decoder.takeText(true)).toBeUndefined()
    decoder.push(Buffer.from('rw'))
    expect(text(decoder)).toBe('rw')
    decoder.push(ONE)
    expect(text(decoder)).toBe('\0\0\0\x01\xaa')
  })

  test('FrameDecoder.takeText leaves frames alone', () => {
    const decoder = new FrameDecoder()
    expect(text(decoder)).toBeUndefined()
    decoder.push(ONE)
    expect(text(decoder)).toBeUndefined()
    expect(drain(decoder)).toEqual(['aa'])
    expect(text(decoder)).toBeUndefined()
  })

  test.each(['20202020', '7e7e7e7e', '0d0a0d0a', '2f610a09'])('FrameDecoder.takeText takes %s for text', (hex) => {
    const decoder = new FrameDecoder()
    decoder.push(bytesOf(hex))
    expect(decoder.takeText()).toEqual(bytesOf(hex))
  })

  test.each(['1f202020', '7f202020', '20202008', '202020ff'])(
    'FrameDecoder.takeText does not take %s for text',
    (hex) => {
      const decoder = new FrameDecoder()
      decoder.push(bytesOf(hex))
      expect(decoder.takeText()).toBeUndefined()
    },
  )
})

describe('FrameDecoder after a length that cannot be', () => {
  test('FrameDecoder forgets what comes, text too', () => {
    const decoder = new FrameDecoder()
    decoder.push(joined(ONE, bytesOf('ffffffff')))
    decoder.next()
    expect(() => decoder.next()).toThrow(ProtocolError)
    decoder.push(Buffer.from('ruok'))
    expect(decoder.takeText()).toBeUndefined()
    expect(decoder.takeText(true)).toBeUndefined()
    expect(decoder.next()).toBeUndefined()
  })
})

describe('encodeFrame', () => {
  test('encodeFrame puts the length before what is written', () => {
    expect(hexOf(encodeFrame((writer) => writer.ustring('/a')))).toBe('00000006000000022f61')
  })

  test('encodeFrame frames nothing as a length of 0', () => {
    expect(encodeFrame(() => {})).toEqual(EMPTY)
  })

  test('encodeFrame is what FrameDecoder takes apart, beyond its first memory too', () => {
    const passwd = new Uint8Array(MIB).fill(7)
    const value = { protocolVersion: 0, timeOut: 1, sessionId: 2n, passwd, readOnly: true }
    const frame = encodeFrame((writer) => ConnectResponse.write(writer, value))
    const decoder = new FrameDecoder()
    decoder.push(frame)
    const body = decoder.next()!
    expect(hexOf(body) === hexOf(encode(ConnectResponse, value))).toBe(true)
    expect(hexOf(decode(ConnectResponse, body).passwd!) === hexOf(passwd)).toBe(true)
  })
})

describe('concat', () => {
  test('concat puts chunks one after the other', () => {
    expect(concat([ONE, EMPTY, bytesOf(''), THREE])).toEqual(joined(ONE, EMPTY, THREE))
  })

  test('concat of nothing is empty, and of one chunk that chunk', () => {
    expect(concat([])).toEqual(bytesOf(''))
    expect(concat([ONE])).toBe(ONE)
  })
})

function drain(decoder: FrameDecoder): string[] {
  const bodies: string[] = []
  for (let body = decoder.next(); body !== undefined; body = decoder.next()) bodies.push(hexOf(body))
  return bodies
}

describe('FrameDecoder.read', () => {
  test('FrameDecoder.read gives the head of a frame over the limit and drops the rest, at any cut (W04)', () => {
    const stream = bytesOf('00000001 aa 00000008 0102030405060708 00000001 bb 00000005 0102030405')
    for (let size = 1; size <= stream.byteLength; size++) {
      const decoder = new FrameDecoder({ limit: 4 })
      const seen: [string, number | undefined][] = []
      for (let at = 0; at < stream.byteLength; at += size) {
        decoder.push(stream.slice(at, at + size))
        for (let body = decoder.read(3); body !== undefined; body = decoder.read(3))
          seen.push([hexOf(body.rest()), decoder.tooLarge?.size])
        decoder.keep()
      }
      expect(seen, `${size} bytes at a time`).toEqual([
        ['aa', undefined],
        ['010203', 8],
        ['bb', undefined],
        ['010203', 5],
      ])
    }
  })

  test('FrameDecoder.read throws at text, though it may drop frames over the limit (W32)', () => {
    const decoder = new FrameDecoder()
    decoder.push(new TextEncoder().encode('HTTP/1.1 400 Bad Request'))
    expect(() => decoder.read(16)).toThrow('text in place of a frame')
  })

  test('FrameDecoder.read gives what next gives, with one reader for all frames of a chunk', () => {
    const whole = concat([ONE, EMPTY, THREE])
    const decoder = new FrameDecoder()
    decoder.push(whole)
    const first = decoder.read()!
    expect(first.rest()).toEqual(bytesOf('aa'))
    expect([first.offset, first.remaining]).toEqual([0, 1])
    expect(decoder.read()).toBe(first)
    expect(first.rest()).toEqual(bytesOf(''))
    expect(decoder.read()!.rest()).toEqual(bytesOf('bbccdd'))
    expect(decoder.read()).toBeUndefined()
  })

  test('FrameDecoder.read reads no byte of the next frame: a short body is a ProtocolError at its own offset', () => {
    const decoder = new FrameDecoder()
    decoder.push(concat([THREE, THREE]))
    const reader = decoder.read()!
    const error = thrownBy(() => reader.int())
    expect(error).toBeInstanceOf(ProtocolError)
    expect(error).toHaveProperty('message', '3 bytes are left for an int at byte 0')
    expect(() => reader.buffer()).toThrow('3 bytes are left for an int at byte 0')
    expect(reader.boolean()).toBe(true)
    expect([reader.offset, reader.remaining]).toEqual([1, 2])
  })

  test('FrameDecoder.keep copies what is left: the memory of the chunks may be written to, at any cut', () => {
    const whole = concat([ONE, EMPTY, THREE, ONE])
    for (let one = 0; one <= whole.length; one++) {
      for (let two = one; two <= whole.length; two++) {
        const decoder = new FrameDecoder()
        const bodies: Uint8Array[] = []
        for (const part of [whole.slice(0, one), whole.slice(one, two), whole.slice(two)]) {
          decoder.push(part)
          for (let reader = decoder.read(); reader !== undefined; reader = decoder.read()) bodies.push(reader.rest())
          decoder.keep()
          part.fill(0xee)
        }
        expect(bodies).toEqual(['aa', '', 'bbccdd', 'aa'].map(bytesOf))
      }
    }
  })

  test('FrameDecoder.read gives frames of all sizes whose chunks share one piece of memory', () => {
    const sizes = [3 * MIB, 5, MIB, 0, 70_000, 2 * MIB, 200]
    const stream = joined(
      ...sizes.map((size) => encodeFrame((writer) => writer.raw(new Uint8Array(size).fill(size + 1)))),
    )
    const memory = new Uint8Array(64 * 1024)
    const decoder = new FrameDecoder()
    const bodies: Uint8Array[] = []
    for (let at = 0; at < stream.byteLength; at += memory.byteLength) {
      const part = stream.subarray(at, at + memory.byteLength)
      memory.set(part)
      decoder.push(memory.subarray(0, part.byteLength))
      for (let reader = decoder.read(); reader !== undefined; reader = decoder.read()) bodies.push(reader.rest())
      decoder.keep()
    }
    expect(bodies.map(({ byteLength }) => byteLength)).toEqual(sizes)
    const isWhole = (body: Uint8Array) => body.every((byte) => byte === ((body.byteLength + 1) & 0xff))
    expect(bodies.every(isWhole)).toBe(true)
  })
})
