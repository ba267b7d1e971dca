import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { dockerClient } from '../src/ensemble/docker.ts'
import { Ensemble, parseMntr, until } from '../src/ensemble/index.ts'
import type { EnsembleDescription } from '../src/ensemble/index.ts'
import { describeEnsemble } from './support/describe-ensemble.ts'

describeEnsemble('Ensemble', (ensemble) => {
  beforeEach(() => ensemble.mend())
  afterAll(() => ensemble.mend())

  test('Ensemble has three nodes: one leads, two follow', async () => {
    const leader = await ensemble.leader()
    const followers = await ensemble.followers()
    expect(new Set([leader, ...followers])).toEqual(new Set(ensemble.nodes))
    expect(parseMntr(await leader.ask('mntr')).get('zk_synced_followers')).toBe('2')
  })

  test('Ensemble.connectString names every node and stays the same when one starts again', async () => {
    const before = ensemble.connectString
    const [node] = await ensemble.followers()
    await node?.stop()
    expect(await node?.mode()).toBeUndefined()
    await node?.start()
    await ensemble.healed()
    expect(ensemble.connectString).toBe(before)
    expect(before.split(',')).toEqual(ensemble.nodes.map((each) => each.address))
  })

  test('EnsembleNode.kill of the leader makes another lead, and start makes the ensemble whole', async () => {
    const old = await ensemble.leader()
    await old.kill()
    const next = await ensemble.leader({ except: old, timeout: 30_000 })
    expect(next.id).not.toBe(old.id)
    expect(await old.mode()).toBeUndefined()

    await old.start()
    await ensemble.healed({ timeout: 30_000 })
    expect(await old.mode()).toBe('follower')
  })

  test('EnsembleNode.pause silences a node without closing its port', async () => {
    const old = await ensemble.leader()
    await old.pause()
    expect(await old.ask('ruok', { timeout: 300 })).toBe('')
    await ensemble.leader({ except: old, timeout: 30_000 })

    await old.unpause()
    await ensemble.healed({ timeout: 30_000 })
  })

  test('EnsembleNode.cutFromPeers of the leader makes another lead while clients still reach the old one', async () => {
    const old = await ensemble.leader()
    await old.cutFromPeers()
    await ensemble.leader({ except: old, timeout: 30_000 })
    const hasNoticed = async () => (await old.ask('srvr')).includes('not currently serving requests')
    await until('the old leader to notice', hasNoticed)
    expect(await old.mode()).toBeUndefined()

    await old.rejoinPeers()
    await ensemble.healed({ timeout: 30_000 })
  })

  test('EnsembleNode.blackhole to every peer ends the leadership of a leader', async () => {
    const old = await ensemble.leader()
    const peers = ensemble.nodes.filter((node) => node !== old)
    await Promise.all(peers.map((peer) => old.blackhole(peer)))
    await ensemble.leader({ except: old, timeout: 30_000 })

    await Promise.all(peers.map((peer) => old.unblackhole(peer)))
    await ensemble.healed({ timeout: 30_000 })
  })

  test('Ensemble.mend undoes every fault at once', async () => {
    const [a, b, c] = ensemble.nodes
    if (a === undefined || b === undefined || c === undefined) throw new Error('three nodes expected')
    await a.blackhole(c)
    await a.pause()
    await b.cutFromPeers()
    await b.kill()
    await expect(ensemble.healed({ timeout: 500 })).rejects.toThrow(
      /zk1 at .*container paused; srvr: no answer[^]*zk2 at .*container exited/,
    )
    await ensemble.mend()
    expect(await ensemble.followers()).toHaveLength(2)
  })

  test('Ensemble.attach gives the same nodes, and its stop leaves them running', async () => {
    const description = JSON.parse(JSON.stringify(ensemble.description)) as EnsembleDescription
    const attached = Ensemble.attach(description)
    expect(attached.connectString).toBe(ensemble.connectString)
    await attached.stop()
    await ensemble.healed()
  })

  test('Ensemble leaves no container and no network when its owner is killed, not even a paused one', async () => {
    const script = fileURLToPath(new URL('support/owner.mjs', import.meta.url))
    const owner = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] })
    onTestFinished(() => void owner.kill('SIGKILL'))
    const started = once(createInterface({ input: owner.stdout }), 'line') as Promise<[string]>
    const [line] = await Promise.race([started, once(owner, 'exit').then(() => Promise.reject(new Error('no start')))])
    const description = JSON.parse(line) as EnsembleDescription
    expect(await whatIsLeftOf(description)).toEqual([`zk-test-${description.id}-1`, `zk-test-${description.id}`])

    await Ensemble.attach(description).nodes[0]?.pause()
    owner.kill('SIGKILL')
    await until('nothing left', async () => (await whatIsLeftOf(description)).length === 0)
  })
})

async function whatIsLeftOf({ id }: EnsembleDescription): Promise<string[]> {
  const { dockerode } = (await dockerClient()).container
  const filters = { label: [`zk-test.ensemble=${id}`] }
  const containers = await dockerode.listContainers({ all: true, filters })
  const networks = await dockerode.listNetworks({ filters })
  return [...containers.map(({ Names }) => Names[0]?.slice(1) ?? ''), ...networks.map(({ Name }) => Name)]
}
