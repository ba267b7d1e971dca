// A seed decides which faults of servers, links and clients happen while six processes use all recipes:
//
//     pnpm chaos --seconds 600 --seed 7
//
// It starts its own ensemble of three real servers in containers.
import { parseArgs } from 'node:util'
import { machineTime } from '../history/index.ts'
import { LinkedEnsemble } from '../links/linked-ensemble.ts'
import { chaos } from './chaos.ts'
import { describe, holds } from './report.ts'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
})
const seconds = numberOf('seconds')
const seed = numberOf('seed')
// A large syncLimit: a follower that is cut off keeps its clients longer than many sessions live.
await using linked = await LinkedEnsemble.start({ tickTime: 400, environment: { ZOO_SYNC_LIMIT: '8' } })
const startedAt = machineTime()
console.log(`chaos for ${seconds} s, seed ${seed}, on ${linked.ensemble.connectString}`)
const print = (what: string) =>
  console.log(`${((machineTime() - startedAt) / 1_000).toFixed(1).padStart(7)} s  ${what}`)
const report = await chaos(linked, { seconds, seed, onFault: print })
console.log(describe(report))
if (!holds(report)) process.exitCode = 1

function numberOf(name: 'seconds' | 'seed'): number {
  const number = Number(values[name])
  if (Number.isInteger(number) && number >= 0) return number
  throw new RangeError(`--${name} must be a number, 0 or more, not ${values[name]}`)
}
