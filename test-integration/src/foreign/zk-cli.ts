import { Inbox } from './inbox.ts'
import { patiently } from './patience.ts'
import type { Program } from './program.ts'

interface CliEvent {
  readonly state: string
  readonly type: string
  readonly path: string
}

/** A session of ZooKeeper's command line. */
export class ZkCli {
  readonly #program: Program
  readonly #lines = new Inbox<string>()
  readonly #events = new Inbox<CliEvent>()

  /** Resolves when the client is connected. */
  static async over(program: Program): Promise<ZkCli> {
    const cli = new ZkCli(program)
    await cli.#printed('its greeting')
    await cli.#connected()
    return cli
  }

  private constructor(program: Program) {
    this.#program = program
    program.onLine((line) => {
      const event = EVENT.exec(line)?.groups
      if (event !== undefined) this.#events.put(event as unknown as CliEvent)
      // A line announces each event; there is an empty line before and after it.
      else if (line !== '' && line !== 'WATCHER::') this.#lines.put(line)
    })
    void program.ended.then((how) => {
      this.#lines.fail(new Error(how))
      this.#events.fail(new Error(how))
    })
  }

  /** The lines that the client prints for a command, without those about events. */
  async run(command: string): Promise<readonly string[]> {
    this.#program.write(command)
    return await this.#printed(command)
  }

  /** Waits until the client's server has applied every change that was committed before the call, so its reads show them. */
  async caughtUp(): Promise<void> {
    const [answer] = await this.run('delete /no-such-node')
    if (answer !== 'Node does not exist: /no-such-node') throw new Error(`there should be no such node: ${answer}`)
  }

  /** Connects again, with another session if necessary, and waits until that is done. */
  async connect(): Promise<void> {
    await this.run('connect')
    await this.#connected()
  }

  /** The next event that the client prints or has already printed since it was connected. */
  nextEvent(): Promise<CliEvent> {
    return patiently(this.#events.take(), () => `${this.#program.describe()} reports an event`)
  }

  /** Stops the client, as a long garbage collection does. Its connection stays open. */
  stop(): Promise<void> {
    return this.#program.stop()
  }

  goOn(): Promise<void> {
    return this.#program.goOn()
  }

  /** Lets the client close its session and exit. Returns how it ended. */
  async end(): Promise<string> {
    this.#program.write('quit')
    await this.#program.end()
    return await this.#program.ended
  }

  /** Takes all events up to `SyncConnected`, including those of an earlier connection. */
  async #connected(): Promise<void> {
    for (;;) {
      const { state, type } = await this.nextEvent()
      if (state === 'SyncConnected' && type === 'None') return
    }
  }

  async #printed(why: string): Promise<readonly string[]> {
    // There is no prompt without a terminal. This command marks the end: it prints one line and sends nothing to servers.
    this.#program.write('printwatches')
    const printed: string[] = []
    for (;;) {
      const line = await patiently(this.#lines.take(), () => `${this.#program.describe()} ends what it says to ${why}`)
      if (line === 'printwatches is on') return printed
      printed.push(line)
    }
  }
}

const EVENT = /^WatchedEvent state:(?<state>\w+) type:(?<type>\w+) path:(?<path>.*)$/
