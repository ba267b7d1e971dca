// One contender, in a separate process.
import { connect } from '@zk/recipes'
import { machineTime } from '@zk/test-integration/history'
import { finishTurn } from './turn.ts'

const [connectString = '', path = '', label = '', turn = '0'] = process.argv.slice(2)

const zk = await connect(connectString, { sessionTimeout: 10_000 })
await finishTurn(zk, {
  path,
  label,
  turn: Number(turn),
  now: machineTime,
  send: (report) => process.send?.(report),
})
await zk.close()
process.disconnect()
