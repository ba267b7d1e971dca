import { ErrorCode, parentOf } from '@zk/wire'
import { Connection, type Reply } from './connection.ts'
import { Scenario } from './scenario.ts'
import { type Credentials, open, Session } from './session.ts'
import { Lacking, type Stage, type Target } from './target.ts'
import { type Frame, Transcript } from './transcript.ts'

const QUOTA = '/zookeeper/quota'

/** How long a server may take for an answer before and after a scenario, in ms. */
const PATIENCE = 15_000
/** How long servers may take until they serve again after faults, in ms. */
const LONG_PATIENCE = 60_000
/** Before what a scenario has left is deleted a second time, in ms. */
const PAUSE = 2_000

/** Sends the requests of a scenario. */
export type ScenarioBody = (scenario: Scenario) => Promise<void>

export interface RunOptions {
  /** Time limit in ms. @default 30_000 */
  timeout?: number | undefined
  /** Ends the scenario early: its node is removed, and its sessions are closed, as after its end. */
  signal?: AbortSignal | undefined
}

/** Matches the report of `run` about a scenario that failed or hung. */
export const UNFINISHED = /^scenario: (failed|hung)/m

/**
 * Plays a scenario on an ensemble that has no other clients. Returns the transcript, one text for each phase. If the
 * scenario fails or hangs, the last phase says so.
 */
export async function run(target: Target, body: ScenarioBody, options: RunOptions = {}): Promise<readonly string[]> {
  const { transcript } = await target.use((stage) => playOn(stage, body, options))
  return transcript
}

export interface Played {
  /** One text for each phase. */
  readonly transcript: readonly string[]
  readonly frames: readonly Frame[]
  /** The frames of a line of a phase: the request and its reply, or the event. */
  readonly framesOf: (phase: number, line: string) => readonly Frame[]
  /** Why it came to no end. */
  readonly failure: string | undefined
  /** Which node could not be deleted afterwards, and why. What was seen before counts all the same. */
  readonly leftover: string | undefined
}

/**
 * Plays a scenario below a node of its own, and then removes the node and closes all sessions. Never rejects because of the
 * servers: what goes wrong is in `failure` and `leftover`.
 */
export async function playOn(stage: Stage, body: ScenarioBody, options: RunOptions = {}): Promise<Played> {
  const { runtime } = stage
  const since = runtime.wallNow()
  // The parent, too, belongs only to this scenario: a sequential node at the scenario's `/` becomes a child of the parent.
  const parent = `${stage.base}/conform-${runtime.uuid()}`
  const root = `${parent}/root`
  const transcript = new Transcript()
  let clientAddress: string | undefined
  let scenario: Scenario | undefined
  const problem = await problemOf(async () => {
    clientAddress = await limited(stage, stage.clientAddress())
    await asSuperUser(stage, ({ session, answer }) =>
      Promise.all([parent, root].map((path) => answer(session.create(path)))),
    )
  })
  let failure = problem === undefined ? undefined : `failed: ${problem}`
  if (failure === undefined) {
    scenario = new Scenario({ stage, root, transcript, clientAddress })
    failure = await failureOf(body, scenario, options)
  }
  if (failure !== undefined) transcript.add('scenario', failure)
  const rendered = transcript.render({ root, clientAddress, since, until: runtime.wallNow() })
  await problemOf(() => limited(stage, scenario?.stop() ?? Promise.resolve()))
  scenario?.end()
  const left = await cleanUp(stage, parent, scenario?.sessions ?? [])
  const leftover = left === undefined ? undefined : `failed: ${parent} could not be deleted: ${left}`
  const framesOf: Played['framesOf'] = (phase, line) => transcript.framesOf(phase, line)
  return { transcript: rendered, frames: transcript.frames, framesOf, failure, leftover }
}

/** Tries it twice, because a server may be about to come back. Returns why that was in vain. */
async function cleanUp(stage: Stage, parent: string, sessions: readonly Session[]): Promise<string | undefined> {
  const remains = new Set(sessions)
  const clean = async (): Promise<void> => {
    await limited(stage, stage.mended(), LONG_PATIENCE)
    await asSuperUser(stage, async ({ session, answer }) => {
      // A session that is not the superuser may delete what the sessions of the scenario may.
      for (const { identities } of sessions) for (const each of identities) await answer(session.auth(...each))
      await remove(session, parent, answer)
      await removeQuotas(session, parent, answer)
    })
    for (const each of remains) {
      await closeForGood(stage, each)
      remains.delete(each)
    }
  }
  if ((await problemOf(clean)) === undefined) return undefined
  await new Promise<void>((resolve) => stage.runtime.setTimer(PAUSE, resolve))
  return problemOf(clean)
}

async function problemOf(act: () => Promise<unknown>): Promise<string | undefined> {
  try {
    await act()
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/** How many requests without an answer are named. */
const NAMED = 5

function named(pending: readonly string[]): string {
  const kinds = [...new Set(pending)]
  if (kinds.length > NAMED) kinds.splice(NAMED, Infinity, '…')
  return kinds.join(' and ') || 'nothing'
}

async function failureOf(
  body: ScenarioBody,
  scenario: Scenario,
  { timeout = 30_000, signal }: RunOptions,
): Promise<string | undefined> {
  let cancel = (): void => {}
  const hung = new Promise<string>((resolve) => {
    const cancelTimer = scenario.stage.runtime.setTimer(timeout, () => {
      resolve(`hung, waiting for ${named(scenario.pending)}`)
    })
    const abort = (): void => resolve('aborted')
    signal?.addEventListener('abort', abort)
    if (signal?.aborted) abort()
    cancel = () => {
      cancelTimer()
      signal?.removeEventListener('abort', abort)
    }
  })
  try {
    return (await Promise.race([body(scenario), hung])) ?? undefined
  } catch (error) {
    if (error instanceof Lacking) return error.message
    return `failed: ${error instanceof Error ? error.stack : String(error)}`
  } finally {
    cancel()
  }
}

interface Keeper {
  readonly session: Session
  /** Rejects if the answer does not come. */
  readonly answer: (reply: Promise<Reply>) => Promise<Reply>
}

/** Runs `use` in a session that no transcript shows, and that no ACL restricts if the superuser is known. */
async function asSuperUser(stage: Stage, use: (keeper: Keeper) => Promise<unknown>): Promise<void> {
  const connection = await limited(
    stage,
    Connection.open(stage.address('leader'), 'super', new Transcript(), stage.runtime),
  )
  const answer = async (reply: Promise<Reply>): Promise<Reply> => {
    const answered = await limited(stage, reply)
    if (answered === undefined) throw new Error('the server has closed the connection')
    return answered
  }
  try {
    const session = await limited(stage, Session.open(connection, ''))
    if (!session.isOpen) throw new Error('the server has refused a session')
    if (stage.superUser !== undefined) await answer(session.auth('digest', stage.superUser))
    await use({ session, answer })
    await limited(stage, session.closeSession())
  } finally {
    connection.hangUp()
  }
}

/** Rejects if it takes too long. */
async function limited<Result>(stage: Stage, promise: Promise<Result>, patience = PATIENCE): Promise<Result> {
  let cancel = (): void => {}
  const late = new Promise<never>((_, reject) => {
    cancel = stage.runtime.setTimer(patience, () =>
      reject(new Error(`the server did not answer within ${patience / 1_000} s`)),
    )
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    cancel()
  }
}

async function remove(session: Session, path: string, answer: Keeper['answer']): Promise<void> {
  let reply = await answer(session.getChildren(path))
  let children = childrenIn(reply)
  // The ACL may permit neither to list the children nor to delete them, but often to change it.
  if (reply?.err === ErrorCode.NoAuth || children.length > 0) {
    await answer(session.setACL(path, open))
    reply = await answer(session.getChildren(path))
    children = childrenIn(reply)
  }
  await Promise.all(children.map((child) => remove(session, `${path}/${child}`, answer)))
  await answer(session.delete(path))
}

function childrenIn(reply: Reply): readonly string[] {
  const names = reply?.op === 'getChildren' ? reply.response?.children : undefined
  return (names ?? []).filter((name) => name !== null)
}

/** Quotas are the only nodes of a scenario that are not below its own. */
async function removeQuotas(session: Session, parent: string, answer: Keeper['answer']): Promise<void> {
  const path = `${QUOTA}${parent}`
  const reply = await answer(session.exists(path))
  if (reply?.err !== ErrorCode.Ok) return
  await remove(session, path, answer)
  // Nodes above it stay if there are others below them.
  for (let above = parentOf(path); above !== QUOTA; above = parentOf(above)) await answer(session.delete(above))
}

/** Closes a session that remains: otherwise it would expire in the middle of the next scenario. */
async function closeForGood(stage: Stage, session: Credentials): Promise<void> {
  const connection = await limited(
    stage,
    Connection.open(stage.address('leader'), 'closer', new Transcript(), stage.runtime),
  )
  try {
    const resumed = await limited(stage, Session.open(connection, '', { session }))
    if (resumed.isOpen) await limited(stage, resumed.closeSession())
  } finally {
    connection.hangUp()
  }
}
