// One server of three is left and serves reads only. A contender waits until there is a server that accepts writes.
import { connect, Lock, LockTimeoutError } from '@zk/recipes'
import { expect, test } from 'vitest'
import { ask, Ensemble, until } from '../src/ensemble/index.ts'
import { describeEnsemble } from './support/describe-ensemble.ts'

const PATH = '/locks/report'

describeEnsemble('A read-only server', () => {
  test.each([
    ['answers handshakes', 'localSessionsEnabled=true localSessionsUpgradingEnabled=true'],
    ['refuses every handshake, as it does without local sessions', ''],
  ])(
    'Lock.acquire sends nothing to a read-only server, which %s: it gives up in time, or is granted once the quorum is back (L35)',
    async (_, config) => {
      const environment = { ZOO_CFG_EXTRA: config, SERVER_JVMFLAGS: '-Dreadonlymode.enabled=true' }
      await using ensemble = await Ensemble.start({ tickTime: 1_000, environment })
      const [left, ...others] = ensemble.nodes
      await using zk = await connect(ensemble.connectString, { sessionTimeout: 20_000 })
      await Promise.all(others.map((node) => node.kill()))
      const [host, port] = left!.address.split(':') as [string, string]
      const isReadOnly = async () => (await ask(Number(port), 'isro', { host })) === 'ro'
      await until('the one that is left to be read-only', isReadOnly)

      const refused = await new Lock(zk, PATH).acquire({ timeout: 2_000 }).catch((error: unknown) => error)
      expect(LockTimeoutError.is(refused)).toBe(true)
      expect(zk.session.connection).toBeUndefined()

      const acquiring = new Lock(zk, PATH).acquire()
      await Promise.all(others.map((node) => node.start()))
      const held = await acquiring
      expect(held.isHeld()).toBe(true)
      expect((await zk.getChildren(PATH)).children).toEqual([held.path.slice(PATH.length + 1)])
      await held.release()
    },
  )
})
