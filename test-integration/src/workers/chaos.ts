// One process of the chaos: contenders of all its recipes. After the order to stop, each still ends the turn for which it waits.
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from '@zk/recipes'
import type { Order } from '../chaos/crowd.ts'
import type { Stage, TakeTurn } from '../chaos/recipe.ts'
import { RECIPES } from '../chaos/recipes/index.ts'
import { append, type Note } from '../history/index.ts'
import { readSettings } from './settings.ts'

const { connectString, sessionTimeout, path, log, name, turn = 0, ...settings } = readSettings()
const { slot = 0, generation = 0, addAuthEvery } = settings
const contenders = new Map<string, TakeTurn>()
/** Those that have not ended a turn since the last order. */
const late = new Set<string>()
let isOrdered = false
const over = new AbortController()

process.on('message', (order: Order) => {
  isOrdered = true
  if (order === 'stop') over.abort()
  expectTurns()
})
// When the parent process has ended there is no use in going on.
process.once('disconnect', () => process.exit())
const zk = await connect(connectString, { sessionTimeout, connectTimeout: 120_000 })
for (const recipe of RECIPES) {
  const place = { zk, path: `${path}/${recipe.name}`, process: name, slot, generation }
  const stage: Stage = { ...place, turn, over: over.signal }
  const playing = recipe.contenders(stage, (note) => append<Note>(`${log}/${recipe.name}.jsonl`, note))
  for (const [who, takeTurn] of Object.entries(playing)) contenders.set(`${recipe.name} ${who}`, takeTurn)
}
expectTurns()
if (addAuthEvery !== undefined) void addAuths(addAuthEvery)
await Promise.all(
  [...contenders].map(async ([contender, takeTurn]) => {
    while (!over.signal.aborted) {
      await takeTurn(`${name} ${contender}`)
      if (late.delete(contender)) process.send?.([...late])
    }
  }),
)
await zk.close()
process.disconnect()

/** An order that comes too early waits until there are contenders. */
function expectTurns(): void {
  if (!isOrdered || contenders.size === 0) return
  for (const contender of contenders.keys()) late.add(contender)
  process.send?.([...late])
}

async function addAuths(interval: number): Promise<void> {
  while (!over.signal.aborted) {
    // The reply is lost if the connection is lost; the next call comes soon.
    await zk.addAuth('digest', `${name}:secret`).catch(() => {})
    await sleep(interval)
  }
}
