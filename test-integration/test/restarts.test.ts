// All servers stop or die, one by one or at once: what only their own logs and elections can show.
import { once } from 'node:events'
import { afterEach, expect, test } from 'vitest'
import { until } from '../src/ensemble/index.ts'
import { caughtUp, newChroot, newClient } from './support/clients.ts'
import { describeEnsemble } from './support/describe-ensemble.ts'
import { Journal } from './support/journal.ts'
import { Load } from './support/load.ts'
import { noteOddities, WatchLog } from './support/watch-log.ts'

/** More replies than requests were in flight when a server went down. */
const UNDER_WAY = 500
/** In ms. Shorter than an election, so that some writes time out before they are sent. */
const SHORT = 200

describeEnsemble('Servers that restart', (ensemble) => {
  afterEach(() => ensemble.mend())

  test('ZooKeeper settles every call of three clients correctly while all servers restart one by one (S02, S08, S09)', async () => {
    const sessionTimeout = 20 * ensemble.description.tickTime
    const clients = await Promise.all(
      ensemble.nodes.map(async (at) => {
        const zk = await newClient(ensemble, { at, sessionTimeout })
        const { stat: ephemeral } = await zk.create('/ephemeral', '', { mode: 'EPHEMERAL' })
        const load = await Load.start(zk, { width: 10 })
        const journal = await Journal.start(zk, { depth: 20, timeout: SHORT })
        return { zk, session: zk.session, ephemeral, load, journal }
      }),
    )
    const complaints = () => clients.flatMap(({ load, journal }) => [...load.complaints, ...journal.complaints])
    const goOn = async () => {
      const before = clients.map(({ load, journal }) => [load.answers, journal.count('done')] as const)
      await until(
        'every client to go on',
        async () =>
          clients.every(({ load, journal }, index) => {
            const [answers, done] = before[index]!
            return load.answers > answers + UNDER_WAY && journal.count('done') > done + UNDER_WAY
          }),
        { instead: () => complaints().slice(0, 5).join('\n') },
      )
    }

    await goOn()
    // The leader last, as is usual: one election instead of two or three. It dies at once, and takes with it what it has not sent.
    const leader = await ensemble.leader()
    for (const node of [...(await ensemble.followers()), leader]) {
      await (node === leader ? node.kill() : node.stop())
      await goOn()
      await node.start()
      await ensemble.healed()
      await goOn()
    }
    await Promise.all(clients.flatMap(({ load, journal }) => [load.stop(), journal.stop()]))

    for (const { zk, session, ephemeral, load, journal } of clients) {
      const other = await newClient(ensemble, { chroot: zk.chroot, sessionTimeout })
      await load.inspect(other)
      await journal.inspect(other)
      expect(load.longestSilence).toBeLessThan(sessionTimeout)
      expect(await other.exists('/ephemeral')).toEqual(ephemeral)
      expect(zk.session).toBe(session)
      expect(journal.count('unknown') + load.unknown, 'nothing was under way').toBeGreaterThan(0)
    }
    expect(complaints()).toEqual([])
    const notDone = clients.reduce((sum, { journal }) => sum + journal.count('not done'), 0)
    expect(notDone, 'nothing ended before it was sent').toBeGreaterThan(0)
  })

  test('Session outlives all servers being down for less than its timeout, with its nodes and watches (S03)', async () => {
    const chroot = await newChroot(ensemble)
    const zk = await newClient(ensemble, { chroot, sessionTimeout: 10_000 })
    const { session } = zk
    const log = new WatchLog()
    const anomalies = noteOddities()
    await zk.create('/node', 'before')
    const { stat } = await zk.create('/ephemeral', '', { mode: 'EPHEMERAL' })
    log.note(await zk.existsAndWatch('/missing'))
    log.note(await zk.getDataAndWatch('/node'))
    const lost = once(session.connection!.signal, 'abort')
    await Promise.all(ensemble.nodes.map((node) => node.kill()))
    await lost
    const unsent = [zk.getData('/node'), zk.create('/unsent'), zk.exists('/unsent')] as const
    await Promise.all(ensemble.nodes.map((node) => node.start()))
    const [read, created, exists] = await Promise.all(unsent)
    expect(read.stat.version).toBe(0)
    expect(exists).toEqual(created.stat)
    expect(zk.session).toBe(session)
    expect(await zk.exists('/ephemeral')).toEqual(stat)

    const other = await newClient(ensemble, { chroot })
    await other.create('/missing')
    await other.setData('/node', 'changed')
    await caughtUp(zk)
    expect(log.take()).toEqual(['NodeCreated /missing', 'NodeDataChanged /node'])
    expect(anomalies).toEqual([])
  })
})
