import type { OpenOptions, Scenario, ScenarioBody, Session } from '../play/index.ts'
import type { Call, Program, Step } from './program.ts'

/** A scenario that executes the steps of a program. Each step is a phase of its own. */
export function playProgram(program: Program): ScenarioBody {
  return async (scenario) => {
    const players = new Map<number, Player>()
    for (const step of program) {
      let player = players.get(step.session)
      if (player === undefined) players.set(step.session, (player = new Player(scenario)))
      await player.play(step)
      // The order in which ephemeral nodes of a session are deleted is not fixed.
      await scenario.settle({ isUnordered: step.do === 'close' })
    }
  }
}

/** Plays the steps of one session number. If its session has ended, `open` begins another one. */
class Player {
  readonly #scenario: Scenario
  #session: Session | undefined
  /** The last zxid of its previous connection. */
  #lastZxid = 0n

  constructor(scenario: Scenario) {
    this.#scenario = scenario
  }

  async play(step: Step): Promise<void> {
    const session = this.#session
    switch (step.do) {
      case 'open':
        if (session?.isOpen !== true) await this.#connect({ at: step.at })
        return
      case 'resume':
        if (session === undefined) return
        await session.drop()
        await this.#connect({ at: step.at, session })
        return
      case 'drop':
        return session?.drop()
      case 'close':
        return session?.isOpen === true ? session.close() : undefined
      case 'call':
        if (session?.isOpen !== true) return
        await Promise.all(step.calls.map((call) => this.#call(session, call)))
    }
  }

  async #connect(options: OpenOptions): Promise<void> {
    this.#lastZxid = this.#session?.lastZxid ?? 0n
    this.#session = await this.#scenario.open(options)
  }

  async #call(session: Session, call: Call): Promise<void> {
    if (call.op === 'cut') await session.callCut(call.call.op, call.call.request, call.bytes)
    else if (call.op === 'auth') await session.auth('digest', call.user)
    else if (call.op === 'servers') {
      await session.callRaw(call.opCode, call.body, call.xid === undefined ? {} : { xid: call.xid })
    } else if (call.op === 'unknown') {
      await session.callRaw(call.opCode, new Uint8Array())
      await session.connection.closed
    } else if (call.op === 'setWatches' || call.op === 'setWatches2') {
      const since = { beginning: 0n, connection: this.#lastZxid, now: session.lastZxid }[call.since]
      if (call.op === 'setWatches') await session.setWatches(call.lists, since)
      else await session.setWatches2(call.lists, since)
    } else await session.call(call.op, call.request, call.op === 'ping' ? { xid: -2 } : {})
  }
}
