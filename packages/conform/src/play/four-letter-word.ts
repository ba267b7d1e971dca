import { type Runtime, systemRuntime } from '@zk/client'
import type { FourLetterWord } from '@zk/testing'
import { concat } from '@zk/wire'

export type ServerMode = 'leader' | 'follower' | 'observer' | 'standalone' | 'read-only'

export interface ServerStatus {
  readonly mode: ServerMode
  /** The upper 32 bits of the zxid. If two nodes report `leader`, the one with the higher epoch is right. */
  readonly epoch: bigint
  readonly zxid: bigint
}

export interface ClientConnection {
  /** Host and port of the client, as the server sees them. Behind a published port they are those of docker. */
  readonly peer: string
  /** The fields in the brackets, unchanged: `sid`, `to`, `lop`, … Before its handshake a connection has no `sid`. */
  readonly fields: ReadonlyMap<string, string>
}

/** How a four-letter word is sent. */
export interface AskOptions {
  /** The time limit for the whole answer, in ms. @default 10_000 */
  timeout?: number | undefined
  /** @default '127.0.0.1' */
  host?: string | undefined
  /** The clock and the network. @default those of this machine */
  runtime?: Runtime | undefined
}

/**
 * The answer of the server to a four-letter word; `''` if there is none.
 *
 * Never rejects. A node that starts, stops or hangs may refuse, reset or not answer; for a poll all of these mean "not yet".
 */
export function ask(
  port: number,
  word: FourLetterWord,
  { timeout = 10_000, host = '127.0.0.1', runtime = systemRuntime }: AskOptions = {},
): Promise<string> {
  return new Promise((resolve) => {
    const chunks: Uint8Array[] = []
    const finish = (): void => {
      cancel()
      link.close()
      resolve(new TextDecoder().decode(concat(chunks)))
    }
    const cancel = runtime.setTimer(timeout, finish)
    const link = runtime.dial(
      { host, port },
      {
        opened: () => void link.write(new TextEncoder().encode(word)),
        received: (bytes) => void chunks.push(bytes.slice()),
        drained: () => {},
        lost: finish,
      },
    )
  })
}

/** Reads the answer to `srvr`; undefined if the server does not serve. */
export function parseSrvr(text: string): ServerStatus | undefined {
  const mode = /^Mode: (leader|follower|observer|standalone|read-only)/m.exec(text)?.[1]
  const zxid = BigInt(/^Zxid: (0x[0-9a-f]+)/m.exec(text)?.[1] ?? 0)
  return mode === undefined ? undefined : { mode: mode as ServerMode, epoch: zxid >> 32n, zxid }
}

/** Reads the answer to `mntr`; empty if the server does not serve. */
export function parseMntr(text: string): Map<string, string> {
  return new Map([...text.matchAll(/^(zk_[^\t]+)\t(.*)$/gm)].map(([, key = '', value = '']) => [key, value]))
}

/** Reads the answer to `cons`. It includes the connection that has sent `cons`. */
export function parseCons(text: string): ClientConnection[] {
  return [...text.matchAll(/^\s*\/(\S+?)\[\d+\]\((.*)\)$/gm)].map(([, peer = '', list = '']) => ({
    peer,
    fields: new Map(list.split(',').map((field) => cut(field, '='))),
  }))
}

function cut(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator)
  return at === -1 ? [text, ''] : [text.slice(0, at), text.slice(at + separator.length)]
}
