import type { Bytes } from '@zk/wire'

/** The ids of new sessions of one server: its id, the time of its start, and a counter (initializeNextSessionId). */
export class SessionIds {
  #next: bigint

  /** `startedAt` is in ms. `last` is the last id of the start before, which may have been in the same ms. */
  constructor(serverId: number, startedAt: number, last: bigint | undefined) {
    const first = (BigInt.asUintN(64, BigInt(Math.floor(startedAt)) << 24n) >> 8n) | (BigInt(serverId) << 56n)
    this.#next = BigInt.asIntN(64, last !== undefined && last >= first ? last + 1n : first)
  }

  next(): bigint {
    return this.#next++
  }

  get last(): bigint {
    return this.#next - 1n
  }
}

/** ZooKeeper's constant "superSecret", the same on every server. */
const SECRET = 0xb3415c00n

const MULTIPLIER = 0x5deece66dn
const MASK = (1n << 48n) - 1n

/** 16 bytes of a java.util.Random whose seed is the session's id (ZooKeeperServer.generatePasswd). */
export function generatePasswd(sessionId: bigint): Bytes {
  const passwd = new Uint8Array(16)
  const view = new DataView(passwd.buffer)
  let seed = (sessionId ^ SECRET ^ MULTIPLIER) & MASK
  for (let at = 0; at < 16; at += 4) {
    seed = (seed * MULTIPLIER + 0xbn) & MASK
    view.setInt32(at, Number(BigInt.asIntN(32, seed >> 16n)), true)
  }
  return passwd
}

export const isPasswd = (sessionId: bigint, passwd: Uint8Array | null): boolean =>
  sessionId !== 0n &&
  passwd?.byteLength === 16 &&
  generatePasswd(sessionId).every((byte, index) => byte === passwd[index])
