// Outlives the process that starts an ensemble, however that one ends, and then removes its containers and networks. It does
// not use the docker command, which may be missing; it is plain JavaScript, which Node 20 can run.
import { readFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'

// The pid comes as an argument: the owner may be dead by now, and our parent another process.
const [owner, ownerPid, ownerHost] = process.argv.slice(2)

process.env['TESTCONTAINERS_RYUK_DISABLED'] = 'true'
const { getContainerRuntimeClient } = await import('testcontainers')
const engine = (await getContainerRuntimeClient()).container.dockerode
const label = [ownerPid, `${ownerHost}=${hostname()}`]

await sweep()
while (await isAlive(Number(owner))) await sleep(500)
// Repeated: the engine may still be executing the owner's last request.
for (let round = 0; round < 5; round++) {
  await sweep()
  await sleep(1000)
}

/** Removes what belongs to owners that do not run any more. */
async function sweep() {
  const containers = await orphans(await engine.listContainers({ all: true, filters: { label } }))
  await Promise.allSettled(containers.map(({ Id }) => engine.getContainer(Id).remove({ force: true, v: true })))
  const networks = await orphans(await engine.listNetworks({ filters: { label } }))
  await Promise.allSettled(networks.map(({ Id }) => engine.getNetwork(Id).remove()))
}

/** @template {{ Labels?: Record<string, string> }} T @param {T[]} found */
async function orphans(found) {
  const alive = await Promise.all(found.map(({ Labels }) => isAlive(Number(Labels?.[ownerPid]))))
  return found.filter((_, i) => !alive[i])
}

/** @param {number} pid */
async function isAlive(pid) {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if (error.code === 'ESRCH') return false
  }
  // A zombie accepts signals until its parent waits for it. Systems without this file: assume alive.
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '')
  return !/\) [ZX] /.test(stat)
}
