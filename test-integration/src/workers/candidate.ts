// A candidate, which leads whenever it is elected, until the process is killed.
import { once } from 'node:events'
import { connect, LeaderElection, LostError } from '@zk/recipes'
import { append } from '../history/index.ts'
import { endWithParent, readSettings } from './settings.ts'

endWithParent()
const { connectString, sessionTimeout, path, log, name: contender } = readSettings()
const zk = await connect(connectString, { sessionTimeout })
const election = new LeaderElection(zk, path, { label: contender })
for await (const leadership of election.terms()) {
  const token = String(leadership.fencingToken)
  append(log, { contender, mode: 'exclusive', what: 'gained', token })
  if (leadership.isHeld()) await once(leadership.signal, 'abort')
  const { reason } = leadership.signal
  append(log, {
    contender,
    mode: 'exclusive',
    what: 'ended',
    token,
    why: LostError.is(reason) ? reason.code : String(reason),
  })
}
