import type { Turn } from '../../src/history/index.ts'
import type { HoldReport, LockName, Span, Stall, Told } from '../../src/stalls/stall.ts'

export interface Holding extends HoldReport {
  /** When the waiting contender was granted. */
  readonly grantedAt: number
  /** The holder's turn, as it reported it, and the other one's. */
  readonly turns: readonly [Turn, Turn]
}

type Outcome = Readonly<Record<LockName, Holding>> & {
  readonly sessionTimeout: number
  readonly stall: Stall
  readonly span: Span
}

/** The result of one stall, in ms, on the clock that all processes of the machine share. */
export class Sample {
  readonly sessionTimeout: number
  readonly stall: Stall
  readonly span: Span
  readonly asked: Holding
  readonly signaled: Holding

  constructor({ sessionTimeout, stall, span, asked, signaled }: Outcome) {
    this.sessionTimeout = sessionTimeout
    this.stall = stall
    this.span = span
    this.asked = asked
    this.signaled = signaled
  }

  /** The ordered length, as a part of the session timeout; 0 for a stall without a length. */
  get part(): number {
    return 'length' in this.stall ? this.stall.length / this.sessionTimeout : 0
  }

  /** The end of the lease, as far as its holder knew. Rounds renew both locks. */
  get leaseEnd(): number {
    return Math.max(this.asked.leaseEnd, this.signaled.leaseEnd)
  }

  /** What was left of the lease when the stall was over; negative when nothing was left. */
  get left(): number {
    return this.leaseEnd - this.span.to
  }

  /** Whether it was held when the stall was over, and afterwards. */
  get isKept(): boolean {
    return this.asked.notified === undefined && this.signaled.notified === undefined && this.asked.until > this.span.to
  }

  /** From the last check that found it held to the other one's grant. */
  get margin(): number {
    return this.asked.grantedAt - this.asked.until
  }

  /** The same for a lost hold, from the known end of its lease. */
  get leaseMargin(): number {
    const lost = [this.asked, this.signaled].filter(({ notified }) => notified !== undefined)
    return Math.min(...lost.map(({ grantedAt, leaseEnd }) => grantedAt - leaseEnd))
  }

  /**
   * From the end of the stall, or of the lease if that was later, to the signal of the lock that is not polled. Without the
   * time in which its process waited for a CPU: that depends on the machine.
   */
  get lateness(): number | undefined {
    const { notified } = this.signaled
    return notified === undefined ? undefined : notified.at - this.#dueAt(notified.at) - this.#waited(notified)
  }

  /** For a CPU, since the stall was over; or since the last check that found it held, if that was not in the stall. */
  #waited(notified: Told): number {
    const { asked, span } = this
    const isOutside = asked.until > span.to || notified.at < span.from
    return notified.waited - (isOutside ? asked.waited : span.waited)
  }

  #dueAt(toldAt: number): number {
    const { stall, span, leaseEnd } = this
    if ('wallStep' in stall && stall.wallStep > 0) return span.to
    // On an overloaded machine it may be lost before the stall.
    return toldAt < span.from ? leaseEnd : Math.max(span.to, leaseEnd)
  }

  toString(): string {
    const { stall, span, signaled } = this
    const what = 'wallStep' in stall ? `the clock set by ${stall.wallStep / 60_000} min` : stall.where
    const lasted = (span.to - span.from).toFixed(0)
    const left = `kept with ${this.left.toFixed(0)} ms left`
    return `T ${this.sessionTimeout}, ${what}, ${lasted} ms: ${signaled.notified === undefined ? left : this.#end(signaled.notified)}`
  }

  #end(notified: Told): string {
    const { reason, at } = notified
    return (
      `${reason}, signal late by ${(at - this.#dueAt(at)).toFixed(1)} ms, less ${this.#waited(notified).toFixed(1)} without a CPU; ` +
      `next granted ${this.margin.toFixed(0)} ms after it was last held, ${this.leaseMargin.toFixed(0)} after the lease`
    )
  }
}

export function describeSamples(samples: readonly Sample[]): string {
  const lost = samples.filter(({ stall, signaled }) => signaled.notified !== undefined && !('wallStep' in stall))
  const late = Math.max(...lost.map(({ lateness = 0 }) => lateness))
  const margin = Math.min(...lost.map(({ margin }) => margin))
  const leaseMargin = Math.min(...lost.map(({ leaseMargin }) => leaseMargin))
  return [
    ...samples.map((sample) => `  ${String(sample)}`),
    `  ${lost.length} lost in a stall: signals at most ${late.toFixed(1)} ms late, with a CPU; ` +
      `next granted at least ${margin.toFixed(0)} ms after it was last held, ${leaseMargin.toFixed(0)} after the lease`,
  ].join('\n')
}
