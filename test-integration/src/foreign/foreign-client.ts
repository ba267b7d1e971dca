import { Inbox } from './inbox.ts'
import { patiently } from './patience.ts'
import type { Program } from './program.ts'

type Message =
  | { readonly answer: number; readonly value: unknown }
  | { readonly answer: number; readonly error: string }
  | { readonly event: string; readonly value: unknown }

/** A client's error for an operation that failed; the message is the name that its language has for the error. */
class Refusal extends Error {
  override readonly name = 'Refusal'
}

/** A client in a program of its own that executes commands: kazoo or Curator. */
export class ForeignClient {
  /** The first session's id, in hexadecimal. */
  readonly session: string
  readonly #program: Program
  readonly #answers: Map<number, Inbox<Message>>
  readonly #events: Map<string, Inbox<unknown>>
  #calls = 0

  /** Waits until it is connected. */
  static async over(program: Program): Promise<ForeignClient> {
    const answers = new Map<number, Inbox<Message>>()
    const events = new Map<string, Inbox<unknown>>()
    program.onLine((line) => {
      const message = JSON.parse(line) as Message
      if ('event' in message) inboxOf(events, message.event).put(message.value)
      else answers.get(message.answer)?.put(message)
    })
    void program.ended.then((how) => {
      for (const inbox of [...answers.values(), ...events.values()]) inbox.fail(new Error(how))
    })
    const session = await patiently(inboxOf(events, 'ready').take(), () => `${program.describe()} connects`)
    return new ForeignClient(program, answers, events, session as string)
  }

  private constructor(
    program: Program,
    answers: Map<number, Inbox<Message>>,
    events: Map<string, Inbox<unknown>>,
    session: string,
  ) {
    this.#program = program
    this.#answers = answers
    this.#events = events
    this.session = session
  }

  /** When it resolves, the client reads every change that was committed before the call: its server has applied them. */
  async caughtUp(): Promise<void> {
    const refused = await this.call('delete', '/no-such-node').then(
      () => false,
      (error: unknown) => error instanceof Refusal,
    )
    if (!refused) throw new Error('there should be no such node')
  }

  /**
   * Executes a command: see the program in `foreign-image` for the commands. They are executed one after the other, so a
   * call behind one that waits for a lock waits too. Rejects with a Refusal when ZooKeeper refuses it.
   */
  async call<T = unknown>(name: string, ...args: readonly unknown[]): Promise<T> {
    const number = ++this.#calls
    const inbox = inboxOf(this.#answers, number)
    this.#program.write(JSON.stringify([number, name, ...args]))
    const message = await patiently(
      inbox.take(),
      () => `${this.#program.describe()} answers ${name}(${args.join(', ')})`,
    )
    this.#answers.delete(number)
    if ('error' in message) throw new Refusal(message.error)
    return message.value as T
  }

  /** The next event of this name, also if it has come already. */
  nextEvent(event: string): Promise<unknown> {
    const what = (): string => `${this.#program.describe()} reports ${event}`
    return patiently(inboxOf(this.#events, event).take(), what)
  }

  /** All events of this name that have come and were not taken yet. */
  eventsSoFar(event: string): readonly unknown[] {
    return inboxOf(this.#events, event).takeAll()
  }

  /** The client stands still, as in a long garbage collection, while its connection stays open. */
  stop(): Promise<void> {
    return this.#program.stop()
  }

  goOn(): Promise<void> {
    return this.#program.goOn()
  }

  /** Lets it close its session and exit. */
  end(): Promise<void> {
    return this.#program.end()
  }
}

function inboxOf<Key, T>(inboxes: Map<Key, Inbox<T>>, key: Key): Inbox<T> {
  const inbox = inboxes.get(key) ?? new Inbox<T>()
  inboxes.set(key, inbox)
  return inbox
}
