import { Inbox } from './inbox.ts'
import { patiently } from './patience.ts'
import type { Program } from './program.ts'

type Message =
  | { readonly answer: number; readonly value: unknown }
  | { readonly answer: number; readonly error: string }
  | { readonly event: string; readonly value: unknown }

/** The error of a client for an operation that failed. The message is the name of the error in the client's language. */
class Refusal extends Error {
  override readonly name = 'Refusal'
}

/** A kazoo or Curator client, which executes commands in a separate program. */
export class ForeignClient {
  /** The id of the first session, in hexadecimal. */
  readonly session: string
  readonly #program: Program
  readonly #answers: Map<number, Inbox<Message>>
  readonly #events: Map<string, Inbox<unknown>>
  #calls = 0

  /** Resolves when the client is connected. */
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

  /** Waits until the client's server has applied every change that was committed before the call, so its reads show them. */
  async caughtUp(): Promise<void> {
    const refused = await this.call('delete', '/no-such-node').then(
      () => false,
      (error: unknown) => error instanceof Refusal,
    )
    if (!refused) throw new Error('there should be no such node')
  }

  /**
   * Executes a command; the programs in `foreign-image` list the commands. Commands are executed one after the other: a
   * command behind one that waits for a lock waits, too. Rejects with a Refusal if ZooKeeper refuses it.
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

  /** The next event of this name, even if it has already come. */
  nextEvent(event: string): Promise<unknown> {
    const what = (): string => `${this.#program.describe()} reports ${event}`
    return patiently(inboxOf(this.#events, event).take(), what)
  }

  /** All events of this name that have come and were not taken. */
  eventsSoFar(event: string): readonly unknown[] {
    return inboxOf(this.#events, event).takeAll()
  }

  /** Stops the client, as a long garbage collection does. Its connection stays open. */
  stop(): Promise<void> {
    return this.#program.stop()
  }

  goOn(): Promise<void> {
    return this.#program.goOn()
  }

  /** Lets the client close its session and exit. */
  end(): Promise<void> {
    return this.#program.end()
  }
}

function inboxOf<Key, T>(inboxes: Map<Key, Inbox<T>>, key: Key): Inbox<T> {
  const inbox = inboxes.get(key) ?? new Inbox<T>()
  inboxes.set(key, inbox)
  return inbox
}
