import { once } from 'node:events'
import { connect, KeeperError } from '@zk/client'
import { TestEnsemble } from '../src/index.ts'

async function main(): Promise<void> {
  await using ensemble = await TestEnsemble.start({ members: 3 })
  await using zk = await connect(ensemble.connectString)

  // The order is placed, and no answer arrives: does my code find out, or place a second one?
  const lost = ensemble.faults.loseReply({ op: 'create', path: '/orders' })
  const error = await zk.create('/orders', 'a book').catch((error: unknown) => error)
  console.log(KeeperError.is(error, 'ConnectionLoss') && error.outcomeUnknown, lost.count)

  ensemble.leader?.kill()
  await ensemble.serving()
  console.log((await zk.getChildren('/')).children)

  const { session } = zk
  ensemble.sessions.expire(session.id)
  await once(session.signal, 'abort')
  console.log(session.signal.reason.code)

  console.log(ensemble.history.requests({ op: 'create' }).map(({ message }) => message.xid))
}

export { main }
