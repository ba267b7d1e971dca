import { test } from 'vitest'
import { generate, play } from '../src/differential/index.ts'
import { InProcessTarget, run } from '../src/scenario/index.ts'
test('stats', async () => {
  const count = new Map<string, number>()
  const add = (k: string) => count.set(k, (count.get(k) ?? 0) + 1)
  for (let seed = 1; seed <= 60; seed++) {
    const phases = await run(new InProcessTarget(), play(generate(seed)))
    for (const line of phases.join('\n').split('\n')) {
      const m = /^\w+: (\w+).* -> (\S+ ?\w+)/.exec(line)
      if (m) add(`${m[1]} ${m[2]!.split(' ')[0]}`)
      else add(line.replace(/^\w+: /, '').replace(/".*/, '').split(' ').slice(0, 2).join(' '))
      if (m?.[1] === 'multi') add(`multi-${/-> Ok z\d+ \[(\S+)/.exec(line)?.[1]} ${[...line.split('->')[1]!.matchAll(/err: (\w+)/g)].map((x) => x[1]).filter((e)=>e!=='Ok'&&e!=='RuntimeInconsistency')}`)
    }
    if (seed === 3) console.log(phases.join('\n--\n'))
  }
  console.log([...count].sort().map(([k, v]) => `${v}\t${k}`).join('\n'))
}, 100000)
