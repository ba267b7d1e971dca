// The floor: the protocol written by hand, for exactly these requests, on one connection that must not fail. It does not
// resume sessions, sends no pings and hardly handles errors. What a client costs more than this is the cost of its features.
import { connect as openSocket, type Socket } from 'node:net'
import { type Connect, SESSION_TIMEOUT } from './client.ts'
import { acquireNaively, type Nodes } from './naive-lock.ts'

const HEADER = 12
const REPLY_HEADER = 20
const NO_NODE = -101

interface Pending {
  readonly read: (frame: Buffer, err: number) => unknown
  readonly resolve: (value: unknown) => void
  readonly reject: (error: Error) => void
}

class Floor {
  readonly #socket: Socket
  readonly #pending: Pending[] = []
  #first = 0
  readonly #watches = new Map<string, ((event: unknown) => void)[]>()
  #rest: Buffer | undefined
  #out: Buffer[] = []
  #onConnected: (() => void) | undefined
  #xid = 0

  constructor(socket: Socket, onConnected: () => void) {
    this.#socket = socket
    this.#onConnected = onConnected
    socket.setNoDelay(true)
    socket.on('data', (chunk) => this.#received(chunk))
    const hello = Buffer.alloc(4 + 45)
    hello.writeInt32BE(45, 0)
    hello.writeInt32BE(SESSION_TIMEOUT, 16)
    hello.writeInt32BE(16, 28)
    socket.write(hello)
  }

  /** Sends a request; `size` is the size of its body. */
  request<Value>(
    opCode: number,
    size: number,
    write: (frame: Buffer, at: number) => void,
    read: (frame: Buffer, err: number) => Value,
  ): Promise<Value> {
    const frame = Buffer.allocUnsafe(HEADER + size)
    frame.writeInt32BE(HEADER - 4 + size, 0)
    frame.writeInt32BE(++this.#xid, 4)
    frame.writeInt32BE(opCode, 8)
    write(frame, HEADER)
    if (this.#out.length === 0) queueMicrotask(() => this.#flush())
    this.#out.push(frame)
    return new Promise((resolve, reject) =>
      this.#pending.push({ read, resolve: resolve as Pending['resolve'], reject }),
    )
  }

  watched(path: string, fire: (event: unknown) => void): void {
    const watchers = this.#watches.get(path)
    if (watchers === undefined) this.#watches.set(path, [fire])
    else watchers.push(fire)
  }

  async end(): Promise<void> {
    await this.request(
      -11,
      0,
      () => {},
      () => undefined,
    )
    this.#socket.end()
  }

  #flush(): void {
    const out = this.#out
    this.#out = []
    this.#socket.write(out.length === 1 ? out[0]! : Buffer.concat(out))
  }

  #received(chunk: Buffer): void {
    let bytes = this.#rest === undefined ? chunk : Buffer.concat([this.#rest, chunk])
    this.#rest = undefined
    while (bytes.length >= 4) {
      const end = 4 + bytes.readInt32BE(0)
      if (bytes.length < end) break
      this.#frame(bytes.subarray(0, end))
      bytes = bytes.subarray(end)
    }
    if (bytes.length > 0) this.#rest = bytes
  }

  #frame(frame: Buffer): void {
    if (this.#onConnected !== undefined) {
      this.#onConnected()
      this.#onConnected = undefined
      return
    }
    if (frame.readInt32BE(4) === -1) {
      const path = readString(frame, REPLY_HEADER + 8)
      const watchers = this.#watches.get(path) ?? []
      this.#watches.delete(path)
      for (const fire of watchers) fire(path)
      return
    }
    const { read, resolve, reject } = this.#pending[this.#first]!
    this.#pending[this.#first++] = undefined!
    if (this.#first > 1_024 && this.#first * 2 > this.#pending.length) {
      this.#pending.splice(0, this.#first)
      this.#first = 0
    }
    const err = frame.readInt32BE(16)
    if (err === 0 || err === NO_NODE) resolve(read(frame, err))
    else reject(new Error(`the server answered with ${err}`))
  }
}

const sizeOf = (text: string) => 4 + Buffer.byteLength(text)

function writeString(frame: Buffer, at: number, text: string): number {
  const size = frame.write(text, at + 4)
  frame.writeInt32BE(size, at)
  return at + 4 + size
}

const readString = (frame: Buffer, at: number) => frame.toString('utf8', at + 4, at + 4 + frame.readInt32BE(at))

function readNames(frame: Buffer): string[] {
  const names: string[] = []
  let at = REPLY_HEADER + 4
  for (let count = frame.readInt32BE(REPLY_HEADER); count > 0; count--) {
    const size = frame.readInt32BE(at)
    names.push(frame.toString('latin1', at + 4, at + 4 + size))
    at += 4 + size
  }
  return names
}

const readData = (frame: Buffer) =>
  frame.subarray(REPLY_HEADER + 4, REPLY_HEADER + 4 + Math.max(0, frame.readInt32BE(REPLY_HEADER)))

/** All permissions for `world:anyone`. */
const ACL = (() => {
  const acl = Buffer.alloc(4 + 4 + 9 + 10)
  acl.writeInt32BE(1, 0)
  acl.writeInt32BE(31, 4)
  writeString(acl, writeString(acl, 8, 'world'), 'anyone')
  return acl
})()

export const connectFloor: Connect = async (connectString) => {
  const [host, port] = connectString.split(':')
  const socket = openSocket(Number(port), host)
  await new Promise((resolve) => socket.once('connect', resolve))
  const floor = await new Promise<Floor>((resolve) => {
    const made: Floor = new Floor(socket, () => resolve(made))
  })

  const withPath = <Value>(opCode: number, path: string, flag: number, read: (frame: Buffer, err: number) => Value) =>
    floor.request(opCode, sizeOf(path) + 1, (frame, at) => (frame[writeString(frame, at, path)] = flag), read)
  const create = (path: string, flags: number) =>
    floor.request(
      1,
      sizeOf(path) + 4 + ACL.length + 4,
      (frame, at) => {
        const end = writeString(frame, at, path)
        frame.writeInt32BE(-1, end)
        ACL.copy(frame, end + 4)
        frame.writeInt32BE(flags, end + 4 + ACL.length)
      },
      (frame) => readString(frame, REPLY_HEADER),
    )
  const remove = (path: string) =>
    floor.request(
      2,
      sizeOf(path) + 4,
      (frame, at) => frame.writeInt32BE(-1, writeString(frame, at, path)),
      () => undefined,
    )
  const children = (path: string) => withPath(8, path, 0, readNames)
  const watch: Nodes['watch'] = async (path) => {
    let fire: (event: unknown) => void
    const event = new Promise((resolve) => (fire = resolve))
    const exists = await withPath(3, path, 1, (_, err) => {
      floor.watched(path, fire)
      return err === 0
    })
    return { exists, event }
  }
  const nodes: Nodes = { createSequential: (prefix) => create(prefix, 3), children, watch, delete: remove }
  return {
    get: (path) => withPath(4, path, 0, readData),
    set: (path, data) =>
      floor.request(
        5,
        sizeOf(path) + 4 + data.length + 4,
        (frame, at) => {
          const end = writeString(frame, at, path)
          frame.writeInt32BE(data.length, end)
          frame.set(data, end + 4)
          frame.writeInt32BE(-1, end + 4 + data.length)
        },
        () => undefined,
      ),
    create: (path) => create(path, 0),
    delete: remove,
    children,
    watch,
    acquire: (path) => acquireNaively(nodes, path),
    close: () => floor.end(),
  }
}
