// Signals of jsdom, of other realms and of older libraries: they have `aborted`, listeners, and sometimes a reason.
import { runInNewContext } from 'node:vm'
import { deleteRecursive, walk } from '@zk/client'
import { describe, expect, test } from 'vitest'
import { connect, Lock, op, type ZooKeeper } from '../../src/index.ts'
import { calls as recipeCalls, PATH } from '../support/every-recipe.ts'
import { type Outcome, outcome } from '../support/outside.ts'
import { Scene } from '../support/scene.ts'

const acl = [{ perms: 31, id: { scheme: 'world', id: 'anyone' } }]

/** What the oldest signals have, and no more. */
class OldSignal {
  aborted = false
  readonly #listeners = new Set<() => void>()

  get listeners(): number {
    return this.#listeners.size
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners.add(listener)
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners.delete(listener)
  }

  abort(): void {
    this.aborted = true
    for (const listener of this.#listeners) listener()
  }
}

interface Signaled {
  readonly signal: AbortSignal
}

async function all(iterated: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of iterated);
}

/** Every call that takes a signal. Iterators end when it aborts, other calls reject with its reason. */
const calls: Record<string, (zk: ZooKeeper, options: Signaled) => Promise<unknown>> = {
  'zk.create': (zk, options) => zk.create('/a', '', options),
  'zk.create with parents': (zk, options) => zk.create('/a/b', '', { parents: true, ...options }),
  'zk.delete': (zk, options) => zk.delete('/a', options),
  'zk.exists': (zk, options) => zk.exists('/a', options),
  'zk.existsAndWatch': (zk, options) => zk.existsAndWatch('/a', options),
  'zk.getData': (zk, options) => zk.getData('/a', options),
  'zk.getDataAndWatch': (zk, options) => zk.getDataAndWatch('/a', options),
  'zk.setData': (zk, options) => zk.setData('/a', '', options),
  'zk.getChildren': (zk, options) => zk.getChildren('/a', options),
  'zk.getChildrenAndWatch': (zk, options) => zk.getChildrenAndWatch('/a', options),
  'zk.getACL': (zk, options) => zk.getACL('/a', options),
  'zk.setACL': (zk, options) => zk.setACL('/a', acl, options),
  'zk.sync': (zk, options) => zk.sync('/a', options),
  'zk.multi': (zk, options) => zk.multi([op.check('/a')], options),
  'zk.multiRead': (zk, options) => zk.multiRead([op.getData('/a')], options),
  'zk.getEphemerals': (zk, options) => zk.getEphemerals('/', options),
  'zk.getAllChildrenNumber': (zk, options) => zk.getAllChildrenNumber('/', options),
  'zk.whoAmI': (zk, options) => zk.whoAmI(options),
  'zk.getConfig': (zk, options) => zk.getConfig(options),
  'zk.getConfigAndWatch': (zk, options) => zk.getConfigAndWatch(options),
  'zk.reconfig': (zk, options) => zk.reconfig({ leaving: [1] }, options),
  'zk.checkWatches': (zk, options) => zk.checkWatches('/a', 'Any', options),
  'zk.addAuth': (zk, options) => zk.addAuth('digest', 'a:b', options),
  'zk.ensurePath': (zk, options) => zk.ensurePath('/a', options),
  'zk.ensureContainer': (zk, options) => zk.ensureContainer('/a', options),
  'zk.watch': (zk, options) => zk.watch('/a', options).then(all),
  'zk.followServers': (zk, options) => zk.followServers(options),
  walk: (zk, options) => all(walk(zk, '/a', options)),
  deleteRecursive: (zk, options) => deleteRecursive(zk, '/a', options),
  connect: (zk, options) => connect('zk1:2181', { runtime: zk.runtime, connectTimeout: 60_000, ...options }),
  ...recipeCalls,
}

function expectAborted(called: Outcome<unknown>): void {
  if (called.status === 'fulfilled') expect(called.value).toBeUndefined()
  else expect(called.error).toMatchObject({ name: 'AbortError' })
}

describe.each(Object.entries(calls))('%s', (name, call) => {
  const signaled = (signal: OldSignal) => ({ signal: signal as unknown as AbortSignal })

  test(`${name} ends with an AbortError when an old signal without a reason aborts`, async () => {
    const scene = new Scene()
    const zk = await scene.client({ sessionTimeout: 40_000 })
    scene.freeze(zk)
    scene.refuse()
    const signal = new OldSignal()
    const called = outcome(call(zk, signaled(signal)))
    await scene.world.advance(100)
    expect([called.status, called.status === 'rejected' && called.error]).toEqual(['pending', false])
    signal.abort()
    await scene.world.settle()
    expectAborted(called)
    expect(signal.listeners).toBe(0)
  })

  test(`${name} ends at once when an old signal has aborted before`, async () => {
    const scene = new Scene()
    const zk = await scene.client()
    const signal = new OldSignal()
    signal.abort()
    const since = scene.since()
    expectAborted(await scene.start(call(zk, signaled(signal))))
    expect(since.ops()).toEqual([])
    expect(signal.listeners).toBe(0)
  })
})

test('Lock.acquire in place of options refuses an old signal, too', async () => {
  const scene = new Scene()
  const { error } = await scene.start(new Lock(await scene.client(), PATH).acquire(new OldSignal() as never))
  expect(error).toEqual(new TypeError('acquire: a signal is given as { signal }'))
})

test('Bytes of another realm are data and credentials', async () => {
  const scene = new Scene()
  const zk = await scene.client()
  const foreign = (text: string) =>
    runInNewContext(`Uint8Array.from(${JSON.stringify(Array.from(new TextEncoder().encode(text)))})`) as Uint8Array
  expect(foreign('x')).not.toBeInstanceOf(Uint8Array)
  await scene.done(zk.create('/bytes', foreign('abc')))
  expect((await scene.done(zk.getData('/bytes'))).data).toEqual(new TextEncoder().encode('abc'))
  await scene.done(zk.addAuth('digest', foreign('a:b')))
  await scene.client({ auth: [{ scheme: 'digest', auth: foreign('a:b') }] })
})
