// Code of docs/guide/production.md.
export { billAlone }

// #region main
import { CREATOR_ALL_ACL } from '@zk/client'
import { connect, Lock } from '@zk/recipes'

async function billAlone(servers: string, password: string, bill: (signal: AbortSignal) => Promise<void>) {
  // All processes of the service have these credentials.
  const auth = [{ scheme: 'digest', auth: `billing:${password}` }]
  await using zk = await connect(servers, { auth })
  const lock = new Lock(zk, '/locks/billing', { acl: CREATOR_ALL_ACL })
  await lock.run((held) => bill(held.signal))
}
// #endregion
