import { ErrorCode, parentOf } from '@zk/wire'
import { Connection } from './connection.ts'
import { Scenario } from './scenario.ts'
import { type Credentials, Session } from './session.ts'
import type { Stage, Target } from './target.ts'
import { type Frame, Transcript } from './transcript.ts'

const QUOTA = '/zookeeper/quota'

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
  /** Why it came to no end. */
  readonly failure: string | undefined
}

/** Plays a scenario below a node of its own, and then removes the node and closes all sessions. */
export async function playOn(stage: Stage, body: ScenarioBody, options: RunOptions = {}): Promise<Played> {
  const { runtime } = stage
  const since = runtime.wallNow()
  // The parent, too, belongs only to this scenario: a sequential node at the scenario's `/` becomes a child of the parent.
  const parent = `${stage.base}/conform-${runtime.uuid()}`
  const root = `${parent}/root`
  const transcript = new Transcript()
  const clientAddress = await stage.clientAddress()
  const scenario = new Scenario({ stage, root, transcript, clientAddress })
  try {
    await asSuperUser(stage, async (session) => {
      for (const path of [parent, root]) await session.create(path)
    })
    const failure = await failureOf(body, scenario, options)
    if (failure !== undefined) transcript.add('scenario', failure)
    const rendered = transcript.render({ root, clientAddress, since, until: runtime.wallNow() })
    return { transcript: rendered, frames: transcript.frames, failure }
  } finally {
    scenario.end()
    await stage.mended()
    await asSuperUser(stage, async (session) => {
      await remove(session, parent)
      await removeQuotas(session, parent)
      for (const left of scenario.sessions) await closeForGood(stage, left)
    })
  }
}

async function failureOf(
  body: ScenarioBody,
  scenario: Scenario,
  { timeout = 30_000, signal }: RunOptions,
): Promise<string | undefined> {
  let cancel = (): void => {}
  const hung = new Promise<string>((resolve) => {
    const cancelTimer = scenario.stage.runtime.setTimer(timeout, () => {
      resolve(`hung, waiting for ${scenario.pending.join(' and ') || 'nothing'}`)
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
    return `failed: ${error instanceof Error ? error.stack : String(error)}`
  } finally {
    cancel()
  }
}

/** Runs `use` in a session that no transcript shows, and that no ACL restricts if the superuser is known. */
async function asSuperUser(stage: Stage, use: (session: Session) => Promise<void>): Promise<void> {
  const connection = await Connection.open(stage.address('leader'), 'super', new Transcript(), stage.runtime)
  const session = await Session.open(connection, '')
  if (stage.superUser !== undefined) await session.auth('digest', stage.superUser)
  await use(session)
  await session.close()
}

async function remove(session: Session, path: string): Promise<void> {
  const reply = await session.getChildren(path)
  const children = reply?.op === 'getChildren' ? (reply.response?.children ?? []) : []
  for (const child of children) await remove(session, `${path}/${child}`)
  await session.delete(path)
}

/** Quotas are the only nodes of a scenario that are not below its own. */
async function removeQuotas(session: Session, parent: string): Promise<void> {
  const path = `${QUOTA}${parent}`
  const reply = await session.exists(path)
  if (reply?.err !== ErrorCode.Ok) return
  await remove(session, path)
  // Nodes above it stay if there are others below them.
  for (let above = parentOf(path); above !== QUOTA; above = parentOf(above)) await session.delete(above)
}

/** Closes a session that remains: otherwise it would expire in the middle of the next scenario. */
async function closeForGood(stage: Stage, session: Credentials): Promise<void> {
  const connection = await Connection.open(stage.address('leader'), 'closer', new Transcript(), stage.runtime)
  const resumed = await Session.open(connection, '', { session })
  if (resumed.isOpen) await resumed.close()
  else connection.hangUp()
}
