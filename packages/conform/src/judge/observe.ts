// Plays the check of a clause, and says what was seen. Whether that is right depends on the release; see grade.ts.
import { type Check, Trial } from '../clauses/index.ts'
import { type Frame, playOn, type RunOptions, type Stage } from '../play/index.ts'

export interface Observation {
  readonly seen: readonly string[]
  /** Why the check came to no end: it waited too long, or the connection was refused. */
  readonly unfinished: string | undefined
  /** Which node could not be deleted afterwards, and why. */
  readonly leftover: string | undefined
  /** Whether the server has answered a request with Unimplemented. */
  readonly isRefused: boolean
  /** Everything that the connections received, in normal form. */
  readonly transcript: readonly string[]
  readonly frames: readonly Frame[]
}

export async function observe(stage: Stage, { play }: Check, options: RunOptions = {}): Promise<Observation> {
  let seen: readonly string[] = []
  const played = await playOn(
    stage,
    async (scenario) => {
      const trial = new Trial(scenario)
      seen = trial.seen
      await play(trial)
    },
    options,
  )
  const { transcript, frames, failure: unfinished, leftover } = played
  const isRefused = transcript.some((phase) => phase.includes('-> Unimplemented '))
  return { seen: [...seen], unfinished, leftover, isRefused, transcript, frames }
}
