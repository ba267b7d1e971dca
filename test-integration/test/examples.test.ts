import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { describeEnsemble } from './support/describe-ensemble.ts'
import { runOn, runtimes } from './support/runtimes.ts'

const example = (name: string) => fileURLToPath(new URL(`../../examples/dist/${name}.js`, import.meta.url))

describeEnsemble('examples', (ensemble) => {
  test.each(runtimes.map((runtime) => [runtime.name, runtime] as const))(
    'quick-start runs on %s',
    async (_, runtime) => {
      const output = await runOn(runtime, example('quick-start'), ensemble.connectString)
      expect(output).toMatch(
        /^session 0x[0-9a-f]+ at 127\.0\.0\.1:\d+\nhello, then NodeDataChanged\nheld, fencing token \d+\n/,
      )
      expect(output).toMatch(/contenders left: 0\ndone\n$/)
    },
  )

  test('demo shows that the lock holds, on an ensemble of the user', async () => {
    const output = await runOn(runtimes[0]!, example('demo/main'), '--connect', ensemble.connectString)
    expect(output).toContain('10 of 10 finished, in 10 turns; 0 processes failed')
    expect(output).toMatch(/The lock held\.\n$/)
  })

  test('demo shows that the lock holds while the leader is killed, on containers of its own', async () => {
    const output = await runOn(runtimes[0]!, example('demo/main'), '--ensemble')
    expect(output).toMatch(/the ensemble's leader, zk\d at \S+, is killed/)
    expect(output).toContain('10 of 10 finished')
    expect(output).toMatch(/The lock held\.\n$/)
  })
})
