// The herd: what one release of a lock costs while 10 to 500 others wait for it.
//
//     node examples/dist/herd/main.js [chart.svg]
import { writeFileSync } from 'node:fs'
import { chart } from './chart.ts'
import { type Cost, costOfRelease, type LockName, locks } from './measure.ts'

const WAITERS = [10, 20, 50, 100, 200, 500]

const [file] = process.argv.slice(2)
const series: Record<string, Cost[]> = {}
console.log('lock                 waiters  notifications       bytes')
for (const name of Object.keys(locks) as LockName[]) {
  series[name] = []
  for (const waiters of WAITERS) {
    const cost = await costOfRelease(name, waiters)
    series[name].push(cost)
    const numbers = [
      String(cost.waiters).padStart(7),
      String(cost.notifications).padStart(14),
      String(cost.bytes).padStart(11),
    ]
    console.log(name.padEnd(20), numbers.join(' '))
  }
}
if (file !== undefined) writeFileSync(file, chart(series))
