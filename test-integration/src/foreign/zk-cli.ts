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

  /** Waits until it is connected. */
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
      // An event is announced by a line, with an empty line before and after it.
      else if (line !== '' && line !== 'WATCHER::') this.#lines.put(line)
    })
    void program.ended.then((how) => {
      this.#lines.fail(new Error(how))
      this.#events.fail(new Error(how))
    })
  }

  /** The lines that it prints for a command, without those about events. */
  async run(command: string): Promise<readonly string[]> {
    this.#program.write(command)
    return await this.#printed(command)
  }

  /** When it resolves, the client reads every change that was committed before the call: its server has applied them. */
  async caughtUp(): Promise<void> {
    const [answer] = await this.run('delete /no-such-node')
    if (answer !== 'Node does not exist: /no-such-node') throw new Error(`there should be no such node: ${answer}`)
  }

  /** Connects again, in another session if necessary, and waits until it is connected. */
  async connect(): Promise<void> {
    await this.run('connect')
    await this.#connected()
  }

  /** The next event that it prints, also if it was printed already. The first is from the time after it was connected. */
  nextEvent(): Promise<CliEvent> {
    return patiently(this.#events.take(), () => `${this.#program.describe()} reports an event`)
  }

  /** It stands still, as in a long garbage collection, while its connection stays open. */
  stop(): Promise<void> {
    return this.#program.stop()
  }

  goOn(): Promise<void> {
    return this.#program.goOn()
  }

  /** Lets it close its session and exit; returns how it ended. */
  async end(): Promise<string> {
    this.#program.write('quit')
    await this.#program.end()
    return await this.#program.ended
  }

  /** Takes the events up to this one, those of an earlier connection too. */
  async #connected(): Promise<void> {
    for (;;) {
      const { state, type } = await this.nextEvent()
      if (state === 'SyncConnected' && type === 'None') return
    }
  }

  async #printed(why: string): Promise<readonly string[]> {
    // Without a terminal there is no prompt. This command prints one line and sends nothing to servers.
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
