// once on real servers: one of several processes runs, and the record is that of the leader's clock.
import { once, type OnceRun, type ZooKeeper } from '@zk/recipes'
import { expect, test } from 'vitest'
import { caughtUp, newChroot, newClient } from './support/clients.ts'
import { describeEnsemble } from './support/describe-ensemble.ts'

const CLIENTS = 5
const SLOTS = 10
const PATH = '/jobs/report'

describeEnsemble('once', (ensemble) => {
  test('once of five clients at once runs in one of them in each slot, and the others find it done (O01)', async () => {
    const chroot = await newChroot(ensemble)
    const clients = await Promise.all(Array.from({ length: CLIENTS }, () => newClient(ensemble, { chroot })))
    for (let slot = 0; slot < SLOTS; slot++) {
      let running = 0
      let runs = 0
      const body = async () => {
        expect(++running).toBe(1)
        runs++
        await clients[0]!.sync('/')
        running--
      }
      const options = { slot: String(slot), timeout: 30_000 }
      const calls = await Promise.all(clients.map((zk) => once(zk, PATH, options, body)))
      expect(runs).toBe(1)
      expect(calls.filter(({ ran }) => ran)).toHaveLength(1)
      expect(calls.filter((call) => !call.ran && call.why === 'done')).toHaveLength(CLIENTS - 1)
    }
  })

  test("once with every runs once in a period, by the time of its node, which is that of the leader's clock (O05)", async () => {
    const chroot = await newChroot(ensemble)
    const [zk, other] = await Promise.all([newClient(ensemble, { chroot }), newClient(ensemble, { chroot })])
    const every = 1_000
    const runs: OnceRun[] = []
    const callIn = async (zk: ZooKeeper) => {
      const call = await once(zk, PATH, { every }, async ({ path }) => (await zk.exists(path))!.ctime)
      if (!call.ran) return
      const { run, result: created } = call
      expect(run.at).toBe(created)
      expect(Date.parse(run.slot)).toBe(Math.floor(created / every) * every)
      runs.push(run)
    }
    while (runs.length < 4) await Promise.all([callIn(zk), callIn(other)])
    const starts = runs.map(({ slot }) => Date.parse(slot))
    expect(starts).toEqual([...new Set(starts)].toSorted((one, other) => one - other))
  })

  test('once whose server is killed after the body records the run once (O03)', async () => {
    const chroot = await newChroot(ensemble)
    const other = await newClient(ensemble, { chroot })
    for (let slot = 0; slot < 3; slot++) {
      const node = ensemble.nodes[slot]!
      const zk = await newClient(ensemble, { chroot, at: node, sessionTimeout: 10_000 })
      const killing: Promise<void>[] = []
      const body = () => void killing.push(node.kill())
      const call = await once(zk, PATH, { slot: String(slot), label: 'killed' }, body)
      expect(call).toMatchObject({ ran: true })
      await Promise.all(killing)
      await node.start()
      await ensemble.healed()
      await caughtUp(other)
      expect(await once(other, PATH, { slot: String(slot) }, () => 'again')).toMatchObject({
        ran: false,
        why: 'done',
        run: { label: 'killed' },
      })
    }
  })
})
