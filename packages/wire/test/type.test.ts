import { describe, expect, test } from 'vitest'
import {
  boolean,
  buffer,
  ConnectResponse,
  CreateRequest,
  decode,
  encode,
  ErrorResponse,
  GetACLResponse,
  GetChildrenResponse,
  GetDataResponse,
  int,
  long,
  ProtocolError,
  Reader,
  readNamed,
  record,
  ReplyHeader,
  SetSASLRequest,
  Stat,
  SyncRequest,
  trailing,
  type Type,
  type TypeOf,
  ustring,
  vector,
  WatcherEvent,
  writeNamed,
  Writer,
} from '../src/index.ts'
import { LearnerInfo } from '../src/server.ts'
import { bytesOf, hexOf, joined } from './bytes.ts'
import { expectValue } from './feeding.ts'
import { thrownBy } from './thrown.ts'

const MIB = 1024 * 1024

describe('simple types', () => {
  const values: readonly [Type<unknown>, unknown, string][] = [
    [int, 2 ** 31 - 1, '7fffffff'],
    [int, -(2 ** 31), '80000000'],
    [long, 2n ** 63n - 1n, '7fffffffffffffff'],
    [long, -(2n ** 63n), '8000000000000000'],
    [long, 2n ** 53n + 1n, '0020000000000001'],
    [boolean, true, '01'],
    [boolean, false, '00'],
    [buffer, null, 'ffffffff'],
    [buffer, bytesOf(''), '00000000'],
    [buffer, bytesOf('00ff'), '00000002 00ff'],
    [ustring, null, 'ffffffff'],
    [ustring, '', '00000000'],
    [ustring, 'a\0é€😀', '0000000b 61 00 c3a9 e282ac f09f9880'],
    [vector(int), null, 'ffffffff'],
    [vector(int), [], '00000000'],
    [vector(ustring), ['a', null, ''], '00000003 00000001 61 ffffffff 00000000'],
  ]
  const named = values.map((row) => [row[0].name, row[2], row] as const)

  test.each(named)(
    '%s reads and writes %s, whole, never in part, and with more behind',
    (_name, _hex, [type, value, hex]) => {
      expect(hexOf(encode(type, value))).toBe(hex.replaceAll(' ', ''))
      expectValue(type, bytesOf(hex), value)
    },
  )

  test('boolean reads every byte but 0 as true, as Java does', () => {
    for (let byte = 0; byte < 256; byte++) expect(decode(boolean, Uint8Array.of(byte))).toBe(byte !== 0)
  })

  test('ustring keeps a byte order mark, as Java does', () => {
    expectValue(ustring, bytesOf('00000004 efbbbf 61'), '\ufeffa')
  })

  test('ustring writes standard UTF-8: four bytes for a surrogate pair, U+FFFD for a lone surrogate (W27)', () => {
    expect(hexOf(encode(ustring, '😀'))).toBe('00000004f09f9880')
    expect(hexOf(encode(ustring, 'a\ud800b\udc00'))).toBe('0000000861efbfbd62efbfbd')
  })

  test('ustring reads malformed UTF-8 as U+FFFD and goes on behind it', () => {
    const reader = new Reader(bytesOf('00000003 61ff62 00000001 63'))
    expect([reader.ustring(), reader.ustring()]).toEqual(['a\ufffdb', 'c'])
  })

  test('ustring and buffer have no limit of their own beyond the bytes in hand; Java refuses more than 2,097,150', () => {
    const text = 'x'.repeat(3 * MIB)
    expect(decode(ustring, encode(ustring, text))).toBe(text)
    expect(decode(buffer, encode(buffer, new Uint8Array(3 * MIB)))).toHaveLength(3 * MIB)
  })
})

describe('lengths and counts that cannot be', () => {
  test.each([
    ['fffffffe 6162', 'a buffer cannot have -2 bytes in SetSASLRequest.token at byte 0'],
    ['80000000 6162', 'a buffer cannot have -2147483648 bytes in SetSASLRequest.token at byte 0'],
    ['00000003 6162', '2 bytes are left for a buffer of 3 bytes in SetSASLRequest.token at byte 4'],
    ['7fffffff 6162', '2 bytes are left for a buffer of 2147483647 bytes in SetSASLRequest.token at byte 4'],
    ['0000', '2 bytes are left for an int in SetSASLRequest.token at byte 0'],
  ])('buffer refuses %s (W08)', (hex, message) => {
    expectRefused(SetSASLRequest, hex, message)
  })

  test.each([
    ['fffffffe 6162', 'a string cannot have -2 bytes in SyncRequest.path at byte 0'],
    ['00000003 6162', '2 bytes are left for a string of 3 bytes in SyncRequest.path at byte 4'],
    ['7fffffff 6162', '2 bytes are left for a string of 2147483647 bytes in SyncRequest.path at byte 4'],
  ])('ustring refuses %s (W08)', (hex, message) => {
    expectRefused(SyncRequest, hex, message)
  })

  test.each([
    ['fffffffe 00000000', 'a vector cannot have -2 items in GetChildrenResponse.children at byte 0'],
    [
      '7fffffff 00000000',
      '4 bytes are left for a vector of 2147483647 items in GetChildrenResponse.children at byte 0',
    ],
    ['00000002 00000000', '4 bytes are left for a vector of 2 items in GetChildrenResponse.children at byte 0'],
  ])('vector refuses %s (W07)', (hex, message) => {
    expectRefused(GetChildrenResponse, hex, message)
  })

  test('vector asks for as many bytes as its items need at least, whatever they are made of', () => {
    expectRefused(
      vector(Stat),
      `00000002 ${'00'.repeat(135)}`,
      '135 bytes are left for a vector of 2 items in vector<Stat> at byte 0',
    )
    expect(decode(vector(Stat), bytesOf(`00000002 ${'00'.repeat(136)}`))).toHaveLength(2)
  })

  test('vector refuses to be declared of items that may take no bytes: nothing would bound its count (W07)', () => {
    for (const item of [record('Nothing', {}), trailing(int, 0), record('R', { last: trailing(int, 0) })]) {
      expect(() => vector(item)).toThrow(new TypeError(`vector<${item.name}>: an item may take no bytes at all`))
    }
    expect(vector(boolean).minSize).toBe(4)
  })

  test('vector of vectors takes no more than the bytes in hand allow, at every level (W07)', () => {
    const nested = vector(vector(int))
    expect(decode(nested, bytesOf('00000002 00000001 00000007 ffffffff'))).toEqual([[7], null])
    expectRefused(
      nested,
      '00000001 7fffffff',
      '0 bytes are left for a vector of 2147483647 items in vector<vector<int>>[0] at byte 4',
    )
    expectRefused(
      nested,
      '40000000 00000000',
      '4 bytes are left for a vector of 1073741824 items in vector<vector<int>> at byte 0',
    )
  })

  test('buffer and vector allocate nothing for bytes that are not in hand (W07, W08)', () => {
    const before = process.memoryUsage().arrayBuffers
    for (let round = 0; round < 100; round++) {
      expect(() => decode(buffer, bytesOf('7fffffff 00'))).toThrow(ProtocolError)
      expect(() => decode(vector(long), bytesOf('7fffffff 00'))).toThrow(ProtocolError)
    }
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(MIB)
  })
})

describe('an error says where', () => {
  const replied = bytesOf('00000001 0000000000000002 00000000')

  test('GetDataResponse names record, field and byte, counted from the start of the frame', () => {
    const reader = new Reader(joined(replied, bytesOf('00000002 beef 00')))
    readNamed(ReplyHeader, reader)
    const error = thrownBy(() => readNamed(GetDataResponse, reader))
    expect(error).toMatchObject({
      message: '1 bytes are left for a long in GetDataResponse.stat.czxid at byte 22',
      field: ['GetDataResponse', 'stat', 'czxid'],
      offset: 22,
    })
  })

  test('Stat, though written by hand, names the field at which its bytes end', () => {
    const at = (length: number) =>
      (thrownBy(() => decode(Stat, new Uint8Array(length))) as ProtocolError).field.join('.')
    expect([0, 8, 16, 24, 32, 36, 40, 44, 52, 56, 60, 67].map(at)).toEqual([
      'Stat.czxid',
      'Stat.mzxid',
      'Stat.ctime',
      'Stat.mtime',
      'Stat.version',
      'Stat.cversion',
      'Stat.aversion',
      'Stat.ephemeralOwner',
      'Stat.dataLength',
      'Stat.numChildren',
      'Stat.pzxid',
      'Stat.pzxid',
    ])
  })

  test('GetACLResponse names the item of a vector by its index', () => {
    const acl = '0000001f 00000005 776f726c64 00000001 61'
    const hex = `00000002 ${acl} 0000001f 00000005 776f726c64 00000009 61`
    expectRefused(
      GetACLResponse,
      hex,
      '1 bytes are left for a string of 9 bytes in GetACLResponse.acl[1].id.id at byte 39',
    )
  })

  test('WatcherEvent refuses garbage (W13)', () => {
    expectRefused(
      WatcherEvent,
      '00000001 00000003 99999999',
      'a string cannot have -1717986919 bytes in WatcherEvent.path at byte 8',
    )
  })

  test('WatcherEvent keeps an unknown type and state (W13)', () => {
    expectValue(WatcherEvent, bytesOf('00000063 00000062 00000001 2f'), { type: 99, state: 98, path: '/' })
  })

  test('decode lets an error through that is not about bytes', () => {
    const mistaken: Type<never> = {
      ...int,
      read: () => {
        throw new RangeError('a mistake of ours')
      },
    }
    expect(() => decode(record('R', { mistaken }), bytesOf(''))).toThrow(RangeError)
  })
})

describe('an error in writing says where', () => {
  const create = { path: '/a', data: null, acl: null, flags: 0 }
  const world = { scheme: 'world', id: 'anyone' }

  test.each<[unknown, string]>([
    [{ ...create, flags: 1.5 }, 'CreateRequest.flags: int must be an integer of 32 bits, not 1.5'],
    [
      {
        ...create,
        acl: [
          { perms: 1, id: world },
          { perms: 1.5, id: world },
        ],
      },
      'CreateRequest.acl[1].perms: int must be an integer of 32 bits, not 1.5',
    ],
    [
      { ...create, acl: [{ perms: 1, id: { ...world, id: 7 } }] },
      'CreateRequest.acl[0].id.id: ustring must be a string or null, not number',
    ],
    [{ ...create, acl: 'world:anyone:r' }, 'CreateRequest.acl: vector must be an array or null, not string'],
    [{ ...create, data: 'text' }, 'CreateRequest.data: buffer must be a Uint8Array, not string'],
    [{ ...create, data: undefined }, 'CreateRequest.data: buffer must be a Uint8Array, not undefined'],
  ])('encode refuses the CreateRequest %o', (value, message) => {
    const expected = message.endsWith('1.5') ? new RangeError(message) : new TypeError(message)
    expect(() => encode(CreateRequest, value as TypeOf<typeof CreateRequest>)).toThrow(expected)
  })

  test('vector(ustring) refuses a string, whose characters would become paths', () => {
    expect(() => encode(vector(ustring), '/abc' as unknown as string[])).toThrow(TypeError)
  })

  test('encode names the record for which there is no value', () => {
    expect(() => encode(CreateRequest, undefined as unknown as TypeOf<typeof CreateRequest>)).toThrow(
      /^CreateRequest\.path: /,
    )
  })

  test('writeNamed writes in a row, and names the type that it was writing', () => {
    const writer = new Writer()
    writeNamed(int, writer, 1)
    expect(() => writeNamed(SyncRequest, writer, { path: 7 as unknown as string })).toThrow(
      /^SyncRequest\.path: ustring/,
    )
    expect(hexOf(writer.toBytes())).toBe('00000001')
  })

  test('encode lets an error through that is not about a value', () => {
    const cause = new Error('a mistake of ours')
    const mistaken: Type<number> = {
      ...int,
      write: () => {
        throw cause
      },
    }
    expect(thrownBy(() => encode(record('R', { mistaken }), { mistaken: 1 }))).toBe(cause)
  })
})

describe('record', () => {
  test('GetChildrenResponse is read whole or not at all, cut at every byte (W06)', () => {
    const hex = '00000003 00000001 61 ffffffff 00000002 6263'
    expectValue(GetChildrenResponse, bytesOf(hex), { children: ['a', null, 'bc'] })
  })

  test('decode ignores bytes behind a record, which a Reader counts (W09)', () => {
    const bytes = bytesOf('ffffff9b deadbeef')
    expect(decode(ErrorResponse, bytes)).toEqual({ err: -101 })
    const reader = new Reader(bytes)
    readNamed(ErrorResponse, reader)
    expect([reader.offset, reader.remaining]).toEqual([4, 4])
  })

  test('record writes its fields in the order of the declaration, whatever the order in the value', () => {
    const value = { flags: 1, acl: null, data: null, path: '/a' }
    expect(hexOf(encode(CreateRequest, value))).toBe('000000022f61ffffffffffffffff00000001')
  })

  test('record knows the fewest bytes that a value takes', () => {
    expect([CreateRequest.minSize, GetDataResponse.minSize, Stat.minSize]).toEqual([16, 72, 68])
    expect(record('Nothing', {}).minSize).toBe(0)
  })
})

describe('trailing', () => {
  const connected = '00000000 00007530 0000000000000001 00000002 beef'
  const value = { protocolVersion: 0, timeOut: 30_000, sessionId: 1n, passwd: bytesOf('beef') }

  test('ConnectResponse without a readOnly byte is readOnly false (W17)', () => {
    expect(decode(ConnectResponse, bytesOf(connected))).toEqual({ ...value, readOnly: false })
  })

  test('ConnectResponse has its readOnly byte read, and always written', () => {
    expectValue(ConnectResponse, bytesOf(`${connected} 01`), { ...value, readOnly: true }, 1)
    expect(encode(ConnectResponse, { ...value, readOnly: false })).toEqual(bytesOf(`${connected} 00`))
  })

  test('trailing writes nothing for undefined, which says that the field was missing', () => {
    const type = record('R', { first: int, last: trailing<number | undefined>(int, undefined) })
    expect(decode(type, bytesOf('00000001'))).toStrictEqual({ first: 1, last: undefined })
    expect(encode(type, { first: 1, last: undefined })).toEqual(bytesOf('00000001'))
    expect(encode(type, { first: 1, last: 2 })).toEqual(bytesOf('00000001 00000002'))
  })

  test('LearnerInfo of 3.4 has no configVersion, which is 0 then', () => {
    const info = { serverid: 1n, protocolVersion: 0x10000 }
    expect(decode(LearnerInfo, bytesOf('0000000000000001 00010000'))).toEqual({ ...info, configVersion: 0n })
    const hex = '0000000000000001 00010000 0000000000000007'
    expect(decode(LearnerInfo, bytesOf(hex))).toEqual({ ...info, configVersion: 7n })
    expectRefused(
      LearnerInfo,
      '0000000000000001 00010000 000000',
      '3 bytes are left for a long in LearnerInfo.configVersion at byte 12',
    )
  })

  test('trailing accepts the field missing, but never half of it', () => {
    const type = record('R', { first: int, last: trailing(int, -7) })
    expect(decode(type, bytesOf('00000001'))).toEqual({ first: 1, last: -7 })
    expectRefused(type, '00000001 0000', '2 bytes are left for an int in R.last at byte 4')
  })
})

describe('what comes out is not what went in', () => {
  test("buffer gives a plain Uint8Array of its own memory, also from Node's Buffer", () => {
    const bytes = Buffer.from('00000002beef', 'hex')
    const data = decode(buffer, bytes)!
    expect(Object.getPrototypeOf(data)).toBe(Uint8Array.prototype)
    expect(data.buffer.byteLength).toBe(2)
    bytes.fill(0)
    expect(data).toEqual(bytesOf('beef'))
  })

  test("buffer writes a Node's Buffer, and a part of a larger memory", () => {
    const memory = bytesOf('00beef00')
    expect(hexOf(encode(buffer, Buffer.from(memory.buffer, 1, 2)))).toBe('00000002beef')
    expect(hexOf(encode(buffer, memory.subarray(1, 3)))).toBe('00000002beef')
  })

  test('Reader reads a part of a larger memory, from a given place', () => {
    const reader = new Reader(bytesOf('ff 00000001 00000002 ff').subarray(1, 9), 4)
    expect([reader.offset, reader.int(), reader.remaining]).toEqual([4, 2, 0])
    expect(() => reader.boolean()).toThrow('0 bytes are left for a boolean at byte 8')
  })

  test.each([-4, 0.5, 9, 100, NaN, -1e-9])('Reader refuses to begin at %d of 8 bytes', (offset) => {
    expect(() => new Reader(new Uint8Array(8), offset)).toThrow(
      new RangeError(`offset must be in the bytes, not ${offset}`),
    )
  })

  test('Reader may begin at the end, where nothing is left', () => {
    expect(new Reader(new Uint8Array(8), 8).remaining).toBe(0)
    expect(new Reader(bytesOf(''), 0).remaining).toBe(0)
  })

  test('Writer gives bytes of their own, and can go on', () => {
    const writer = new Writer()
    writer.int(1)
    const first = writer.toBytes()
    writer.setInt(0, 2)
    writer.boolean(true)
    expect([hexOf(first), hexOf(writer.toBytes()), writer.length]).toEqual(['00000001', '0000000201', 5])
  })
})

describe('Writer grows', () => {
  const written: Readonly<Record<string, [write: (writer: Writer) => void, hex: string]>> = {
    int: [(writer) => writer.int(-2), 'fffffffe'],
    long: [(writer) => writer.long(-2n), 'fffffffffffffffe'],
    boolean: [(writer) => writer.boolean(true), '01'],
    buffer: [(writer) => writer.buffer(bytesOf('beef')), '00000002beef'],
    ustring: [(writer) => writer.ustring('é'), '00000002c3a9'],
  }

  test.each(Object.entries(written))(
    'Writer.%s writes the same at every place around the end of its memory',
    (_name, [write, hex]) => {
      const different: number[] = []
      for (let before = 240; before < 260; before++) {
        const writer = new Writer()
        for (let at = 0; at < before; at++) writer.boolean(true)
        write(writer)
        if (hexOf(writer.toBytes()) !== '01'.repeat(before) + hex) different.push(before)
      }
      expect(different).toEqual([])
    },
  )
})

function expectRefused(type: Type<unknown>, hex: string, message: string): void {
  const error = thrownBy(() => decode(type, bytesOf(hex)))
  expect(error).toBeInstanceOf(ProtocolError)
  expect(error).toHaveProperty('message', message)
}
