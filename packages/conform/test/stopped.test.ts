// Servers that stop, or do not answer any more, in the middle.
import { expect, test } from 'vitest'
import {
  chapters,
  judge,
  type Judgement,
  type JudgeOptions,
  playOn,
  ServerStopped,
  type Stage,
  type Target,
  VirtualTarget,
} from '@zk/conform/internal'

/** A server that nobody mends, alone. */
function alone(use: (stage: Stage) => void = () => {}, mend: (stage: Stage) => Promise<void> = async () => {}): Target {
  return {
    use: (play) =>
      new VirtualTarget({ members: 1 }).use((stage) => {
        use(stage)
        return play({
          runtime: stage.runtime,
          base: stage.base,
          superUser: stage.superUser,
          clientAddress: () => stage.clientAddress(),
          address: (place) => stage.address(place),
          kill: (place) => stage.kill(place),
          restart: (place) => stage.restart(place),
          freeze: (place) => stage.freeze(place),
          thaw: (place) => stage.thaw(place),
          elected: () => stage.elected(),
          mended: () => mend(stage),
        })
      }),
  }
}

test('a scenario whose server is killed comes to its end, and says what is left', async () => {
  const { failure, leftover } = await alone().use((stage) =>
    playOn(stage, async (scenario) => {
      await scenario.open()
      await stage.kill('leader')
    }),
  )
  expect(failure).toBeUndefined()
  expect(leftover).toMatch(/^failed: \/conform-[-0-9a-f]+ could not be deleted: /)
})

test('a scenario whose server falls silent comes to its end, too', async () => {
  const { failure } = await alone().use((stage) =>
    playOn(stage, async (scenario) => {
      const session = await scenario.open()
      await stage.freeze('leader')
      await session.exists('/')
    }),
  )
  expect(failure).toMatch(/^hung, waiting for a: exists/)
})

test('a scenario whose server is silent from the beginning says so', async () => {
  const { failure } = await alone((stage) => void stage.freeze('leader')).use((stage) =>
    playOn(stage, () => Promise.reject(new Error('played'))),
  )
  expect(failure).toBe('failed: the server did not answer within 15 s')
})

const options: JudgeOptions = {
  target: alone(),
  chapters,
  scenarios: [],
  profiles: new Set(['core']),
  given: new Set(),
  oracle: (release) => new VirtualTarget({ release, members: 1 }),
  isAlive: async () => true,
}

async function stopped(judging: Promise<Judgement>): Promise<ServerStopped> {
  const outcome = await judging.catch((error: unknown) => error)
  expect(outcome).toBeInstanceOf(ServerStopped)
  return outcome as ServerStopped
}

test('judging ends at the clause after which the server does not answer, with what was found until then', async () => {
  let played = 0
  const dies: Target = {
    use: (play) => alone((stage) => void (++played > 2 && stage.kill('leader'))).use(play),
  }
  const ids = new Set(['framing/1', 'framing/2', 'framing/3', 'framing/4'])
  const { message, judgement } = await stopped(judge({ ...options, target: dies, ids, isAlive: async () => false }))
  expect(message).toBe('the server does not answer any more after framing/3')
  expect(judgement.clauses.map(({ id, verdict }) => `${id} ${verdict.outcome}`)).toEqual([
    'framing/1 equal',
    'framing/2 equal',
    'framing/3 stopped',
  ])
})

test('a server that answers again after a check without an end is judged on', async () => {
  let played = 0
  const pauses: Target = {
    use: (play) => alone((stage) => void (++played === 1 && stage.freeze('leader'))).use(play),
  }
  const { clauses } = await judge({ ...options, target: pauses, ids: new Set(['framing/1', 'framing/2']) })
  expect(clauses.map(({ id, verdict }) => `${id} ${verdict.outcome}`)).toEqual([
    'framing/1 unfinished',
    'framing/2 equal',
  ])
})

test('a check that has passed names the node that could not be deleted afterwards', async () => {
  const dies = alone(undefined, (stage) => stage.kill('leader'))
  const { clauses } = await judge({ ...options, target: dies, ids: new Set(['framing/1']) })
  expect(clauses).toMatchObject([
    { verdict: { outcome: 'unfinished', evidence: { unfinished: expect.stringContaining('could not be deleted') } } },
  ])
})

test('checks that mostly wait are played at the same time, after the others', async () => {
  let now = 0
  let most = 0
  const counting: Target = {
    use: async (play) => {
      most = Math.max(most, ++now)
      try {
        return await new VirtualTarget({ members: 1 }).use(play)
      } finally {
        now--
      }
    },
  }
  const order: string[] = []
  const ids = new Set(['sessions/12', 'sessions/13', 'sessions/15', 'watches/1'])
  const { clauses } = await judge({ ...options, target: counting, ids, onClause: ({ id }) => order.push(id) })
  expect(order[0]).toBe('watches/1')
  expect(most).toBe(3)
  expect(clauses.map(({ id }) => id)).toEqual(['sessions/12', 'sessions/13', 'sessions/15', 'watches/1'])
})
