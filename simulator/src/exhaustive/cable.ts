import type { ConnectionHandler, RuntimeConnection } from '@zk/client'
import type { ServerEnd } from '@zk/testing/internal'
import { type Frame, framesOf, Namer } from './frames.ts'

export type Upward =
  | { readonly type: 'dial' }
  | ({ readonly type: 'frame' } & Frame)
  /** The client has closed the connection. */
  | { readonly type: 'closed' }

export type Downward =
  | { readonly type: 'opened' }
  | ({ readonly type: 'frame' } & Frame)
  /** The connection failed, or the server has closed it. */
  | { readonly type: 'lost' }

export interface CableOptions {
  readonly client: number
  /** Its number among the connections of its client, from 1. */
  readonly number: number
  readonly handler: ConnectionHandler
  /** Returns the server's end. */
  readonly accept: (cable: Cable) => ServerEnd | undefined
  readonly keepsSegments: boolean
}

/**
 * One TCP connection. Frames are delivered one by one, in order, in either direction, at any time. It may break at either
 * end: then the frames under way to that end are lost. The other end notices it after the frames that are still under way to
 * it, or breaks as well.
 */
export class Cable implements RuntimeConnection {
  readonly client: number
  readonly name: string
  /** How many frames were delivered: this numbers the next one. */
  readonly delivered = { up: 0, down: 0 }
  /** Whether one end is broken, so that the other may break. */
  isBroken = false
  readonly #handler: ConnectionHandler
  readonly #accept: (cable: Cable) => ServerEnd | undefined
  readonly #keepsSegments: boolean
  readonly #namer = new Namer()
  #up: Upward[] = [{ type: 'dial' }]
  #down: Downward[] = []
  #server: ServerEnd | undefined
  /** An end that is closed gets nothing more. */
  #isUpOver = false
  #isDownOver = false

  constructor({ client, number, handler, accept, keepsSegments }: CableOptions) {
    this.client = client
    this.name = `${nameOf(client)}${number}`
    this.#handler = handler
    this.#accept = accept
    this.#keepsSegments = keepsSegments
  }

  get up(): readonly Upward[] {
    return this.#up
  }

  get down(): readonly Downward[] {
    return this.#down
  }

  get isUpOver(): boolean {
    return this.#isUpOver
  }

  get isDownOver(): boolean {
    return this.#isDownOver
  }

  // --- the client's end: RuntimeConnection --------------------------------------------------------------------------

  write(bytes: Uint8Array): boolean {
    if (this.#isUpOver) return true
    const frames = framesOf(bytes, (frame) => this.#namer.up(frame), this.#keepsSegments)
    for (const frame of frames) this.#up.push({ type: 'frame', ...frame })
    return true
  }

  close(): void {
    this.#endDown()
    this.#hangUp()
  }

  // --- the server's end ---------------------------------------------------------------------------------------------

  deliver(bytes: Uint8Array): void {
    if (this.#isDownOver) return
    const frames = framesOf(bytes, (frame) => this.#namer.down(frame), this.#keepsSegments)
    for (const frame of frames) this.#down.push({ type: 'frame', ...frame })
  }

  closeByServer(): void {
    this.#endUp()
    if (!this.#isDownOver) this.#down.push({ type: 'lost' })
  }

  // --- the search's choices -----------------------------------------------------------------------------------------

  deliverUp(): void {
    const next = this.#up.shift()!
    this.delivered.up++
    switch (next.type) {
      case 'dial':
        this.#server = this.#accept(this)
        if (this.#server === undefined) this.closeByServer()
        else if (!this.#isDownOver) this.#down.push({ type: 'opened' })
        return
      case 'frame':
        return this.#server!.received(next.bytes)
      case 'closed':
        this.#endUp()
        return this.#server?.closed()
    }
  }

  deliverDown(): void {
    const next = this.#down.shift()!
    this.delivered.down++
    switch (next.type) {
      case 'opened':
        return this.#handler.opened()
      case 'frame':
        return this.#handler.received(next.bytes)
      case 'lost':
        return this.#lost()
    }
  }

  /** The client finds its end broken: replies under way are lost. */
  loseAtClient(): void {
    this.isBroken = true
    this.#hangUp()
    this.#lost()
  }

  /** The server finds its end broken: requests under way are lost. */
  loseAtServer(): void {
    this.isBroken = true
    this.#endUp()
    if (!this.#isDownOver) this.#down.push({ type: 'lost' })
    this.#server?.closed()
  }

  #lost(): void {
    this.#endDown()
    this.#handler.lost(new Error('read ECONNRESET'))
  }

  #hangUp(): void {
    if (!this.#isUpOver && this.#up.at(-1)?.type !== 'closed') this.#up.push({ type: 'closed' })
  }

  #endUp(): void {
    this.#isUpOver = true
    this.#up = []
  }

  #endDown(): void {
    this.#isDownOver = true
    this.#down = []
  }
}

/** The clients are named a, b, c … */
export function nameOf(client: number): string {
  return String.fromCharCode('a'.charCodeAt(0) + client)
}
