import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { dockerClient } from '../src/ensemble/docker.ts'
import { Ensemble, until } from '../src/ensemble/index.ts'
import type { EnsembleDescription } from '../src/ensemble/index.ts'
import { describeEnsemble } from './support/describe-ensemble.ts'

describeEnsemble('Ensemble', (ensemble) => {
  beforeEach(() => ensemble.mend())
  afterAll(() => ensemble.mend())

  test('Ensemble.mend undoes every fault at once, and each node has its port again', async () => {
    const before = ensemble.connectString
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
    expect(ensemble.connectString).toBe(before)
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
