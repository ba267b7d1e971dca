// The session of a shell: opened at the first command, followed, and opened again if it is gone.
import { type ClientState, formatSessionId, type ZooKeeper } from '@zk/client'
import { printable } from '@zk/client/internal'
import { connectWith } from '../command/connection.ts'
import type { Arguments } from '../command/options.ts'

export class ShellClient {
  readonly #args: Arguments
  /** Gets a sentence about each change that nobody has asked for. */
  readonly #tell: (text: string) => void
  #zk: ZooKeeper | undefined
  #opening: { readonly zk: Promise<ZooKeeper>; readonly abort: () => void } | undefined

  constructor(args: Arguments, tell: (text: string) => void) {
    this.#args = args
    this.#tell = tell
  }

  /** The client, if there is one. */
  get current(): ZooKeeper | undefined {
    return this.#zk
  }

  /** Rejects as `connect` does, and when the signal aborts: then no other command can be waiting. */
  async get(signal?: AbortSignal): Promise<ZooKeeper> {
    if (this.#zk !== undefined) return this.#zk
    const { zk, abort } = this.#opening ?? this.#open()
    signal?.addEventListener('abort', abort)
    try {
      return await zk
    } finally {
      signal?.removeEventListener('abort', abort)
    }
  }

  #open(): { readonly zk: Promise<ZooKeeper>; readonly abort: () => void } {
    const giveUp = new AbortController()
    const opened = async (): Promise<ZooKeeper> => {
      try {
        this.#zk = await connectWith(this.#args, process.env, giveUp.signal)
        void this.#follow(this.#zk)
        return this.#zk
      } finally {
        this.#opening = undefined
      }
    }
    const opening = { zk: opened(), abort: () => giveUp.abort() }
    this.#opening = opening
    return opening
  }

  /** Ends the session, and with it each call that is under way. The next command opens another. */
  async close(): Promise<void> {
    this.#opening?.abort()
    const zk = this.#zk
    this.#zk = undefined
    await zk?.close()
  }

  /** The server and the chroot, or what the session lacks. */
  get place(): string {
    const zk = this.#zk
    if (zk === undefined) return '(no session)'
    const chroot = zk.chroot === '/' ? '' : printable(zk.chroot)
    return `${zk.state.name === 'connected' ? zk.state.server : `(${zk.state.name})`}${chroot}`
  }

  async #follow(zk: ZooKeeper): Promise<void> {
    let last = zk.state
    for await (const state of zk.watchState()) {
      if (zk !== this.#zk) return
      const text = changeOf(last, state)
      if (text !== undefined) this.#tell(text)
      if (state.name !== 'connecting') last = state
    }
    // Its calls would all fail.
    if (zk === this.#zk) this.#zk = undefined
  }
}

function changeOf(last: ClientState, state: ClientState): string | undefined {
  switch (state.name) {
    case 'connecting':
    case 'closed':
      return undefined
    case 'disconnected':
      return 'the connection is lost: looking for a server'
    case 'expired':
      return 'the session has expired: opening another'
    case 'authFailed':
      return `the session has ended: ${state.error?.message ?? 'the credentials are refused'}`
    case 'connected':
      if (last === state || (last.name === 'connected' && last.server === state.server)) return undefined
      return 'sessionId' in last && last.sessionId === state.sessionId
        ? `connected to ${state.server}, in the same session`
        : `connected to ${state.server}, in the new session ${formatSessionId(state.sessionId)}`
  }
}
