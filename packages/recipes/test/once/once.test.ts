// once: at most one recorded run in each period, on whichever host comes first.
import { describe, expect, test } from 'vitest'
import type { Runtime } from '@zk/client'
import {
  type Held,
  KeeperError,
  Lock,
  type LostError,
  WaitTimeoutError,
  once,
  type OnceOptions,
  type OnceResult,
  type OnceRun,
  type ZooKeeper,
} from '../../src/index.ts'
import { outcome } from '../support/outside.ts'
import { nothing, Scene } from '../support/scene.ts'

const PATH = '/jobs/report'
const RECORD = `${PATH}/done`
/** The length of the periods. */
const PERIOD = 60_000
const T = 4_000

const recordOf = (scene: Scene) => {
  const node = scene.ensemble.nodes.get(RECORD)
  return node && (JSON.parse(Buffer.from(node.data).toString()) as Record<string, unknown>)
}

/** Counts how often its body runs. */
class Job {
  runs = 0
  readonly #zk: ZooKeeper

  constructor(zk: ZooKeeper) {
    this.#zk = zk
  }

  call(options: OnceOptions): Promise<OnceResult<number>> {
    return once(this.#zk, PATH, options, () => ++this.runs)
  }
}

/** A body that ends when it is told to. */
function longBody(): { readonly body: () => Promise<string>; readonly end: () => void } {
  let end = () => {}
  const ended = new Promise<string>((resolve) => {
    end = () => resolve('done')
  })
  return { body: () => ended, end }
}

describe('once', () => {
  test('once runs its body, records the run, and resolves with the result (O01)', async () => {
    const scene = new Scene()
    const zk = await scene.client()
    let got: { held: Held; run: OnceRun } | undefined
    const running = once(zk, PATH, { slot: '2026-11-27', label: 'host-1' }, (held, run) => {
      got = { held, run }
      return held.isHeld()
    })
    const result = await scene.done(running)
    const { held, run } = got!
    expect(result).toEqual({ ran: true, result: true, run })
    const at = scene.world.wallNow()
    expect(run).toEqual({ slot: '2026-11-27', at, label: 'host-1', fencingToken: held.fencingToken })
    expect(recordOf(scene)).toEqual({
      version: 1,
      slot: '2026-11-27',
      at: new Date(at).toISOString(),
      label: 'host-1',
      fencingToken: `0x${held.fencingToken.toString(16)}`,
    })
    expect(held.signal.reason).toMatchObject({ code: 'Released' })
    expect(scene.leftovers()).toEqual(nothing)
  })

  test('once does not run a slot twice, on no host, and says who ran it (O01)', async () => {
    const scene = new Scene()
    const [zk, other] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
    const first = await scene.done(once(zk, PATH, { slot: 'a', label: 'host-1' }, () => 1))
    await scene.world.advance(1_000)
    for (const each of [zk, other]) {
      const job = new Job(each)
      const since = scene.since()
      expect(await scene.done(job.call({ slot: 'a' }))).toEqual({ ran: false, why: 'done', run: runIn(first) })
      expect(job.runs).toBe(0)
      // One read, and no place in line.
      expect(since.ops()).toEqual(['getData'])
    }
  })

  test('once runs each slot, and keeps one record', async () => {
    const scene = new Scene()
    const job = new Job(await scene.client())
    for (const slot of ['a', 'b', 'c']) expect(await scene.done(job.call({ slot }))).toMatchObject({ ran: true })
    expect(job.runs).toBe(3)
    expect(recordOf(scene)).toMatchObject({ slot: 'c' })
    expect(scene.children(PATH)).toEqual(['done'])
    // Only the last slot is remembered.
    expect(await scene.done(job.call({ slot: 'a' }))).toMatchObject({ ran: true, result: 4 })
  })

  test('once with an earlier slot runs it again, and the next call the later slot (O08)', async () => {
    const scene = new Scene()
    const job = new Job(await scene.client())
    const ran: boolean[] = []
    for (const slot of ['2026-11-26', '2026-11-27', '2026-11-27', '2026-11-26', '2026-11-27', '2026-11-27']) {
      ran.push((await scene.done(job.call({ slot }))).ran)
    }
    expect(ran).toEqual([true, true, false, true, true, false])
    expect(recordOf(scene)).toMatchObject({ slot: '2026-11-27' })
  })

  test('once runs once in each period of every, by the clock of the leader', async () => {
    const scene = new Scene()
    const [zk, other] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
    const [job, theirs] = [new Job(zk), new Job(other)]
    const results: (OnceResult<number> | undefined)[] = []
    for (let quarter = 0; quarter < 12; quarter++) {
      for (const each of [job, theirs]) results.push(await scene.done(each.call({ every: PERIOD })))
      await scene.world.advance(PERIOD / 4)
    }
    const runs = results.flatMap((result) => (result?.ran ? [result.run] : []))
    expect(runs.map(({ slot }) => slot)).toEqual([
      '2024-01-01T00:00:00.000Z',
      '2024-01-01T00:01:00.000Z',
      '2024-01-01T00:02:00.000Z',
    ])
    expect(job.runs + theirs.runs).toBe(3)
  })

  test('once counts a run for the period in which it began', async () => {
    const scene = new Scene()
    const zk = await scene.client()
    const { body, end } = longBody()
    await scene.world.advance(PERIOD - 1_000)
    const running = outcome(once(zk, PATH, { every: PERIOD }, body))
    await scene.world.advance(2_000)
    end()
    await scene.world.settle()
    expect(running.value).toMatchObject({ ran: true, run: { slot: '2024-01-01T00:00:00.000Z' } })
    expect(await scene.done(new Job(zk).call({ every: PERIOD }))).toMatchObject({ ran: true })
  })

  test('once keeps to one run in each period of a shorter every', async () => {
    const scene = new Scene()
    const job = new Job(await scene.client())
    await scene.world.advance(PERIOD / 2)
    expect(await scene.done(job.call({ every: 24 * PERIOD }))).toMatchObject({ ran: true })
    expect(await scene.done(job.call({ every: PERIOD }))).toMatchObject({ ran: false, why: 'done' })
    await scene.world.advance(PERIOD / 2)
    expect(await scene.done(job.call({ every: PERIOD }))).toMatchObject({ ran: true })
  })

  test('once skips while another host runs, and says who and since when (O01)', async () => {
    const scene = new Scene()
    const [zk, other] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
    const { body, end } = longBody()
    const running = outcome(once(other, PATH, { slot: 'a', label: 'host-1' }, body))
    await scene.world.advance(1_000)
    const job = new Job(zk)
    const skipped = await scene.done(job.call({ slot: 'a' }))
    expect(skipped).toMatchObject({ ran: false, why: 'running' })
    expect(skipped).toMatchObject({
      blocker: { label: 'host-1', sessionId: other.session.id, since: scene.world.wallNow() - 1_000, isOwn: false },
    })
    expect(job.runs).toBe(0)
    end()
    await scene.world.settle()
    expect(running.value).toMatchObject({ ran: true, result: 'done' })
    expect(scene.leftovers()).toEqual(nothing)
  })

  test('once with a timeout waits for a run elsewhere, and does not run again when it is recorded (O01)', async () => {
    const scene = new Scene()
    const [zk, other] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
    const { body, end } = longBody()
    const running = outcome(once(other, PATH, { slot: 'a' }, body))
    await scene.world.settle()
    const job = new Job(zk)
    const waiting = outcome(job.call({ slot: 'a', timeout: 2 * PERIOD }))
    await scene.world.advance(PERIOD)
    expect(waiting.status).toBe('pending')
    end()
    await scene.world.settle()
    expect(running.value.ran).toBe(true)
    expect(waiting.value).toMatchObject({ ran: false, why: 'done' })
    expect(job.runs).toBe(0)
  })

  test('once that finds the job done logs it, at the level at which its lock was acquired', async () => {
    const scene = new Scene()
    const lines: unknown[] = []
    const logger = (level: string, message: string, fields: object) => {
      if (/job|acquired/.test(message)) lines.push([level, message, 'label' in fields ? fields.label : undefined])
    }
    const zk = await scene.client({ logger })
    const other = await scene.client()
    const { body, end } = longBody()
    const running = outcome(once(other, PATH, { slot: 'a', label: 'host-2' }, body))
    await scene.world.settle()
    const job = new Job(zk)
    const waiting = outcome(job.call({ slot: 'a', timeout: PERIOD }))
    await scene.world.advance(1_000)
    end()
    await scene.world.settle()
    expect([running.value.ran, waiting.value.ran]).toEqual([true, false])
    await scene.done(job.call({ slot: 'a' }))
    expect(lines).toEqual([
      ['info', 'zk: lock acquired', undefined],
      ['info', 'zk: job already done', 'host-2'],
      ['debug', 'zk: job already done', 'host-2'],
    ])
  })

  test('once with a timeout gives up when it is over, and says who runs', async () => {
    const scene = new Scene()
    const [zk, other] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
    void once(other, PATH, { slot: 'a', label: 'host-1' }, longBody().body)
    await scene.world.settle()
    const waiting = outcome(new Job(zk).call({ slot: 'a', timeout: 5_000 }))
    await scene.world.advance(5_000)
    expect(waiting.value).toMatchObject({ ran: false, why: 'running', blocker: { label: 'host-1' } })
  })

  test('once of fifty calls at once runs one body, and the next calls find it done (O01)', async () => {
    const scene = new Scene()
    const clients = await scene.clients(5)
    const job = new Job(clients[0]!)
    const body = async () => {
      job.runs++
      await clients[0]!.sync('/')
    }
    const calls = Array.from({ length: 50 }, (_, nth) =>
      outcome(once(clients[nth % 5]!, PATH, { slot: 'a', timeout: nth % 2 === 0 ? 0 : 60_000 }, body)),
    )
    await scene.world.advance(60_000)
    expect(calls.filter(({ value }) => value.ran)).toHaveLength(1)
    expect(job.runs).toBe(1)
    expect(scene.leftovers()).toEqual(nothing)
  })

  test('once excludes a plain Lock of its path', async () => {
    const scene = new Scene()
    const [zk, other] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
    const held = await scene.done(new Lock(other, PATH, { label: 'by hand' }).acquire())
    expect(await scene.done(new Job(zk).call({ slot: 'a' }))).toMatchObject({
      why: 'running',
      blocker: { label: 'by hand' },
    })
    await scene.done(held.release())
    expect(await scene.done(new Job(zk).call({ slot: 'a' }))).toMatchObject({ ran: true })
  })

  test('once works in a view of the client', async () => {
    const scene = new Scene()
    scene.ensemble.nodes.create('/app')
    const zk = (await scene.client()).withChroot('/app')
    expect(await scene.done(once(zk, '/job', { slot: 'a' }, () => 1))).toMatchObject({ ran: true })
    expect(scene.ensemble.nodes.get('/app/job/done')).toBeDefined()
    expect(await scene.done(once(zk, '/job', { slot: 'a' }, () => 1))).toMatchObject({ ran: false })
  })

  test('once gives its record the ACL', async () => {
    const scene = new Scene()
    const acl = [{ perms: 31, id: { scheme: 'ip', id: '10.0.0.0/8' } }]
    const zk = await scene.client()
    const running = await scene.start(once(zk, PATH, { slot: 'a', acl }, () => 1))
    expect(running.value).toMatchObject({ ran: true })
    expect((await scene.done(zk.getACL(RECORD))).acl).toEqual(acl)
  })

  test('once goes through JSON', async () => {
    const scene = new Scene()
    const zk = await scene.client()
    const first = await scene.done(once(zk, PATH, { slot: 'a' }, () => 1))
    const again = await scene.done(once(zk, PATH, { slot: 'a' }, () => 1))
    const { fencingToken, ...run } = runIn(first)
    const text = { ...run, fencingToken: `0x${fencingToken.toString(16)}` }
    expect(JSON.parse(JSON.stringify(first))).toEqual({ ran: true, result: 1, run: text })
    expect(JSON.parse(JSON.stringify(again))).toEqual({ ran: false, why: 'done', run: text })
  })
})

describe('once whose body fails', () => {
  test('once whose body throws records nothing, and the next call in the period runs (O02)', async () => {
    const scene = new Scene()
    const [zk, other] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
    const error = new Error('of the body')
    const failing = await scene.start(once(zk, PATH, { slot: 'a' }, () => Promise.reject(error)))
    expect(failing.error).toBe(error)
    expect(recordOf(scene)).toBeUndefined()
    expect(scene.leftovers()).toEqual(nothing)
    expect(await scene.done(new Job(other).call({ slot: 'a' }))).toMatchObject({ ran: true })
  })

  test('once whose host dies lets another one run when its session is over (O02)', async () => {
    const scene = new Scene()
    const [zk, other] = (await scene.clients(2, { sessionTimeout: T })) as [ZooKeeper, ZooKeeper]
    void once(zk, PATH, { slot: 'a' }, longBody().body).catch(() => {})
    await scene.world.settle()
    const waiting = outcome(new Job(other).call({ slot: 'a', timeout: PERIOD }))
    await scene.world.settle()
    expect(await scene.done(new Job(other).call({ slot: 'a' }))).toMatchObject({ ran: false, why: 'running' })
    scene.expire(zk)
    await scene.world.settle()
    expect(waiting.value).toMatchObject({ ran: true })
    expect(recordOf(scene)).toMatchObject({ slot: 'a' })
  })

  test('once rejects with the loss if its body rejects only because the signal aborted', async () => {
    const scene = new Scene()
    const zk = await scene.client({ sessionTimeout: T })
    const body = ({ signal }: Held) =>
      new Promise<never>((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as LostError))
      })
    const running = outcome(once(zk, PATH, { slot: 'a' }, body))
    await scene.world.settle()
    scene.expire(zk)
    await scene.world.advance(10_000)
    expect(running.error).toMatchObject({ name: 'LostError', result: undefined })
    expect(recordOf(scene)).toBeUndefined()
  })
})

test('once whose body releases its hold rejects with the result, and records nothing', async () => {
  const scene = new Scene()
  const zk = await scene.client()
  const body = async (held: Held) => {
    await held.release()
    return 3
  }
  const running = await scene.start(once(zk, PATH, { slot: 'a' }, body))
  expect(running.error).toMatchObject({ name: 'LostError', code: 'Released', result: 3 })
  expect(recordOf(scene)).toBeUndefined()
})

describe('once and clocks', () => {
  /** The runtime of a host whose wall clock is wrong by so many ms. */
  const withClock = (runtime: Runtime, by: number): Runtime =>
    new Proxy(runtime, {
      get(target, name) {
        if (name === 'wallNow') return () => target.wallNow() + by
        const value: unknown = Reflect.get(target, name, target)
        return typeof value === 'function' ? (value.bind(target) as unknown) : value
      },
    })

  test.each([-24 * PERIOD, -120_000, 120_000, 24 * PERIOD])(
    'once of a host whose clock is wrong by %d ms keeps to the periods of the leader (O05)',
    async (by) => {
      const scene = new Scene()
      const wrong = new Job(await scene.client({ runtime: withClock(scene.world, by) }))
      const right = new Job(await scene.client())
      for (let period = 0; period < 3; period++) {
        const [one, other] = period % 2 === 0 ? [wrong, right] : [right, wrong]
        expect(await scene.done(one.call({ every: PERIOD }))).toMatchObject({ ran: true })
        expect(await scene.done(other.call({ every: PERIOD }))).toMatchObject({ ran: false, why: 'done' })
        await scene.world.advance(PERIOD)
      }
    },
  )

  test("once runs nothing twice when the leader's clock goes back, warns, and goes on later (O05)", async () => {
    const scene = new Scene()
    const lines: unknown[] = []
    const logger = (level: string, message: string, fields: object) => {
      if (level === 'warn' && message.includes('a job')) lines.push({ message, ...fields })
    }
    const job = new Job(await scene.client({ logger }))
    await scene.world.advance(5 * PERIOD)
    expect(await scene.done(job.call({ every: PERIOD }))).toMatchObject({ ran: true })
    scene.world.setWallClock(-2 * PERIOD)
    for (let period = 0; period < 3; period++) {
      expect(await scene.done(job.call({ every: PERIOD }))).toMatchObject({
        ran: false,
        why: 'done',
        run: { slot: '2024-01-01T00:05:00.000Z' },
      })
      await scene.world.advance(PERIOD)
    }
    expect(lines).toHaveLength(1)
    expect(lines[0]).toMatchObject({
      message: expect.stringContaining('is recorded for a later time') as string,
      path: PATH,
      last: '2024-01-01T00:05:00.000Z',
      now: '2024-01-01T00:03:00.000Z',
    })
    expect(await scene.done(job.call({ every: PERIOD }))).toMatchObject({ ran: true })
    expect(job.runs).toBe(2)
  })

  test("once with a slot does not ask a clock: it runs whatever the leader's clock says (O05)", async () => {
    const scene = new Scene()
    const job = new Job(await scene.client())
    for (const slot of ['a', 'b', 'c']) {
      expect(await scene.done(job.call({ slot }))).toMatchObject({ ran: true })
      expect(await scene.done(job.call({ slot }))).toMatchObject({ ran: false })
      scene.world.setWallClock(-24 * PERIOD)
    }
  })
})

describe('once and operators', () => {
  test('once runs again when its record is deleted (O06)', async () => {
    const scene = new Scene()
    const job = new Job(await scene.client())
    await scene.done(job.call({ slot: 'a' }))
    scene.ensemble.nodes.delete(RECORD)
    expect(await scene.done(job.call({ slot: 'a' }))).toMatchObject({ ran: true, result: 2 })
  })

  test.each([
    ['', 'is no record of a run'],
    ['hello', 'is no record of a run'],
    ['null', 'is no record of a run'],
    ['"text"', 'is no record of a run'],
    ['{"version":1}', 'is no record of a run'],
    ['{"version":1,"slot":"a","at":"noon","label":"","fencingToken":"0x1"}', 'is no record of a run'],
    ['{"version":1,"slot":"a","at":"2026-11-27T01:00:00Z","label":"","fencingToken":"1"}', 'is no record of a run'],
    ['{"version":2,"slot":"a"}', 'is the record of a later release (version 2) of a run'],
  ])('once refuses to guess what %j means, and says what to do (O06)', async (data, problem) => {
    for (const options of [{ slot: 'b' }, { every: PERIOD }]) {
      const scene = new Scene()
      scene.ensemble.nodes.create('/jobs')
      scene.ensemble.nodes.create(PATH)
      scene.ensemble.nodes.create(RECORD, { data })
      const job = new Job(await scene.client())
      const { error } = await scene.start(job.call(options))
      expect(error).toBeInstanceOf(TypeError)
      expect(String(error)).toContain(`${RECORD} ${problem}`)
      expect(String(error)).toContain(problem.includes('later') ? 'Update this program' : 'Delete the node')
      expect(job.runs).toBe(0)
      expect(scene.leftovers()).toEqual(nothing)
    }
  })

  test('once reads a record that has more fields, as a later release may write', async () => {
    const scene = new Scene()
    const zk = await scene.client()
    const record = { version: 1, slot: 'a', at: '2026-11-27T01:00:00Z', label: 'x', fencingToken: '0x1', took: 5 }
    scene.ensemble.nodes.create('/jobs')
    scene.ensemble.nodes.create(PATH)
    scene.ensemble.nodes.create(RECORD, { data: JSON.stringify(record) })
    const run = { slot: 'a', at: Date.parse(record.at), label: 'x', fencingToken: 1n }
    expect(await scene.done(once(zk, PATH, { slot: 'a' }, () => 1))).toEqual({ ran: false, why: 'done', run })
  })

  test.each<[string, (scene: Scene) => void]>([
    ['created', (scene) => scene.ensemble.nodes.create(RECORD, { data: 'hello' })],
    ['deleted', (scene) => scene.ensemble.nodes.delete(RECORD)],
    ['overwritten', (scene) => scene.ensemble.nodes.setData(RECORD, 'hello')],
  ])('once records its run even if an operator has %s the record meanwhile (O06)', async (what, act) => {
    const scene = new Scene()
    const zk = await scene.client()
    if (what !== 'created') await scene.done(once(zk, PATH, { slot: 'z' }, () => 1))
    const { body, end } = longBody()
    const running = outcome(once(zk, PATH, { slot: 'a' }, body))
    await scene.world.settle()
    act(scene)
    end()
    await scene.world.settle()
    expect(running.value).toMatchObject({ ran: true })
    expect(recordOf(scene)).toMatchObject({ slot: 'a' })
  })

  test('once whose node is deleted during the body rejects with the loss, and records nothing (O06)', async () => {
    const scene = new Scene()
    const zk = await scene.client()
    const { body, end } = longBody()
    const running = outcome(once(zk, PATH, { slot: 'a' }, body))
    await scene.world.settle()
    scene.ensemble.nodes.delete(`${PATH}/${scene.children(PATH)[0]!}`)
    end()
    await scene.world.settle()
    expect(running.error).toMatchObject({ name: 'LostError', code: 'NodeGone', result: 'done' })
    expect(recordOf(scene)).toBeUndefined()
  })

  test('once rejects with NoAuth if it may not write the record', async () => {
    const scene = new Scene()
    const zk = await scene.client()
    const record = JSON.stringify({ version: 1, slot: 'z', at: '2026-11-27T01:00:00Z', label: '', fencingToken: '0x1' })
    await scene.done(
      zk.create(RECORD, record, { parents: true, acl: [{ perms: 1, id: { scheme: 'world', id: 'anyone' } }] }),
    )
    const { error } = await scene.start(new Job(zk).call({ slot: 'a' }))
    expect(KeeperError.is(error, 'NoAuth')).toBe(true)
    expect((error as KeeperError).path).toBe(RECORD)
    expect(scene.leftovers()).toEqual(nothing)
  })
})

describe('The arguments of once', () => {
  const body = () => 1
  test.each<[string, object, unknown, RegExp]>([
    ['no period', {}, body, /^TypeError: once takes \{ slot: '2026-11-27' \}/],
    ['two periods', { slot: 'a', every: 1 }, body, /^TypeError: once takes \{ slot/],
    ['an empty slot', { slot: '' }, body, /^RangeError: slot must have 1 to 255 characters, not 0/],
    ['a long slot', { slot: 'x'.repeat(256) }, body, /^RangeError: slot must have 1 to 255 characters, not 256/],
    ['a slot that is a date', { slot: new Date(0) }, body, /^TypeError: slot must be a string, not object/],
    ['a period of nothing', { every: 0 }, body, /^RangeError: every must be a number of ms, 1 or more, not 0/],
    ['an endless period', { every: Infinity }, body, /^RangeError: every must be a number/],
    [
      'a period as text',
      { every: '3600000' },
      body,
      /^RangeError: every must be a number of ms, 1 or more, not string/,
    ],
    [
      'an unknown option',
      { slot: 'a', label2: 'x' },
      body,
      /^TypeError: once: unknown option label2 \(did you mean label\?\); known are label, acl/,
    ],
    ['a label of bytes', { slot: 'a', label: new Uint8Array(1) }, body, /^TypeError: label must be a string/],
    ['an invalid timeout', { slot: 'a', timeout: -1 }, body, /^RangeError: timeout must be/],
    ['an invalid signal', { slot: 'a', signal: {} }, body, /^TypeError: signal must be/],
    ['an invalid ACL', { slot: 'a', acl: [] }, body, /^TypeError: acl must be/],
    ['no body', { slot: 'a' }, undefined, /^TypeError: once takes a function: once\(zk, path/],
  ])('once refuses %s, and sends nothing', async (_, options, body, message) => {
    const scene = new Scene()
    const zk = await scene.client()
    const since = scene.since()
    const { error } = await scene.start(once(zk, PATH, options as never, body as never))
    expect(String(error)).toMatch(message)
    expect(since.ops()).toEqual([])
  })

  test.each(['/', 'jobs', '/jobs/'])('once refuses the path %j', async (path) => {
    const { error } = await new Scene().start(once(await new Scene().client(), path, { slot: 'a' }, body))
    expect(error).toBeInstanceOf(TypeError)
  })

  test('once with a signal that is aborted rejects at once, and sends nothing (O07)', async () => {
    const scene = new Scene()
    const zk = await scene.client()
    const since = scene.since()
    const job = new Job(zk)
    const { error } = await scene.start(job.call({ slot: 'a', signal: AbortSignal.abort(new Error('before')) }))
    expect(error).toEqual(new Error('before'))
    expect([since.ops(), job.runs]).toEqual([[], 0])
  })

  test('once rejects if no server answers, and does not say that another host runs', async () => {
    const scene = new Scene()
    const zk = await scene.client({ sessionTimeout: T })
    scene.refuse()
    scene.freeze(zk)
    const bySlot = outcome(new Job(zk).call({ slot: 'a' }))
    const byPeriod = outcome(new Job(zk).call({ every: PERIOD }))
    await scene.world.advance(T)
    expect(KeeperError.is(bySlot.error, 'RequestTimeout')).toBe(true)
    expect(WaitTimeoutError.is(byPeriod.error)).toBe(true)
  })
})

function runIn(result: OnceResult<unknown>): OnceRun {
  if ('run' in result) return result.run
  throw new Error('it was running')
}
