// Tells what contenders report, and judges their turns at the end.
import { longestGap, outOfOrder, overlaps, type Turn } from '@zk/test-integration/history'
import type { Paint } from '../paint.ts'
import type { Report } from './turn.ts'

export const CONTENDERS = 10
/** How long a turn takes, in ms. */
export const TURN = 300

export class Referee {
  readonly #turns: Turn[] = []
  readonly #from = new Map<string, number>()
  readonly #print: (line: string) => void
  readonly #startedAt: number
  readonly #paint: Paint
  #finished = 0

  constructor(print: (line: string) => void, startedAt: number, paint: Paint) {
    this.#print = print
    this.#startedAt = startedAt
    this.#paint = paint
  }

  begin(connectString: string): void {
    this.#print(`${CONTENDERS} processes take turns of ${TURN} ms on ${connectString}`)
  }

  /** How many contenders have finished. */
  get finished(): number {
    return this.#finished
  }

  /** Tells what happens to the servers. */
  tellServers(at: number, what: string): void {
    this.#say(at, '           ', this.#paint('red', what))
  }

  heard(contender: string, report: Report): void {
    const { at, type } = report
    const token = this.#paint('dim', `fencing token 0x${BigInt(report.token).toString(16)}`)
    if (type === 'gained') {
      this.#from.set(contender, at)
      return this.#say(at, contender, `gains     ${token}`)
    }
    this.#turns.push({
      contender,
      mode: 'exclusive',
      token: BigInt(report.token),
      from: this.#from.get(contender) ?? at,
      until: at,
    })
    if (type === 'lost') return this.#say(at, contender, `loses it  ${token}: ${report.why}; it queues again`)
    this.#finished++
    this.#say(at, contender, `finishes  ${token}`)
  }

  /** Prints the verdict. Returns whether the lock held. */
  judge(failures: number): boolean {
    const turns = this.#turns
    const atOnce = overlaps(turns).length
    const disordered = outOfOrder(turns).length
    const held = this.#finished === CONTENDERS && failures === 0 && atOnce === 0 && disordered === 0
    this.#print(
      [
        '',
        `${this.#finished} of ${CONTENDERS} finished, in ${turns.length} turns; ${failures} processes failed`,
        `exclusion: ${atOnce} turns overlapped`,
        `order: ${disordered} turns out of order (fencing tokens rise)`,
        `longest time without a holder: ${longestGap(turns).toFixed(0)} ms`,
        held ? this.#paint('green', 'The lock held.') : this.#paint('red', 'THE LOCK DID NOT HOLD.'),
      ].join('\n'),
    )
    return held
  }

  #say(at: number, source: string, what: string): void {
    this.#print(`${((at - this.#startedAt) / 1_000).toFixed(3).padStart(8)} s  ${source}  ${what}`)
  }
}
