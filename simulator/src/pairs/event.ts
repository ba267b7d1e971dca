// What happens at a moment of a story.
import { ErrorCode } from '@zk/wire'
import type { StoryWorld } from './story-world.ts'

/** How long nothing arrives, in session timeouts. */
const SILENCE = 0.5
/** The time limit of the calls of a story in which calls reach it, in session timeouts. */
export const PATIENCE = 0.4

export const events = {
  /** Its connection is reset, and what is under way is lost. */
  cut: (world) => {
    for (const link of world.links) link.reset()
  },
  /** Nothing arrives at the server any more, and neither end notices. */
  cutUp: (world) => {
    for (const link of world.links) link.loseForEver('up')
  },
  cutDown: (world) => {
    for (const link of world.links) link.loseForEver('down')
  },
  /** Everything waits, new connections too, and arrives later. */
  silence: (world) => world.hold(SILENCE),
  /** The next request is executed, and its reply is lost with the connection. */
  lostReply: ({ model }) => {
    model.faults.loseReply({ connection: 'reset' })
  },
  lostRequest: ({ model }) => {
    model.faults.loseRequest({ connection: 'reset' })
  },
  throttle: ({ model }) => {
    model.faults.fail({ code: ErrorCode.ThrottledOp })
  },
  /** The ensemble ends the session. */
  expire: ({ model, zk }) => {
    if (zk !== undefined && model.sessions.get(zk.session.id) !== undefined) model.sessions.expire(zk.session.id)
  },
  abort: (world) => world.abort(),
  /** Calls with a time limit reach it: everything waits for longer. */
  timeout: (world) => world.hold(SILENCE),
  release: (world) => world.release(),
  close: (world) => {
    void world.close()
  },
  /** Another client writes the node that the story is about. */
  foreignWrite: (world) => {
    const node = world.node === undefined ? undefined : world.model.nodes.get(world.node)
    if (node === undefined) return
    world.model.nodes.setData(world.node!, node.data)
  },
  foreignDelete: (world) => {
    const { node } = world
    if (node === undefined || world.model.nodes.get(node) === undefined) return
    world.model.nodes.delete(node)
  },
  foreignCreate: (world) => world.createBeside(),
} as const satisfies Readonly<Record<string, (world: StoryWorld) => void>>

export type EventName = keyof typeof events
export const eventNames = Object.keys(events) as readonly EventName[]
