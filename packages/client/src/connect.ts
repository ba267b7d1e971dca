import { parseConnectString } from '@zk/wire'
import { Chroot } from './chroot.ts'
import { atCaller } from './errors.ts'
import { checkOptions, type ConnectOptions } from './options.ts'
import { Sessions } from './sessions.ts'
import { ZooKeeper } from './zookeeper.ts'

/**
 * Connects to an ensemble and resolves when a session stands and its credentials are accepted.
 *
 *     const zk = await connect('zk1:2181,zk2:2181,zk3:2181/app', { sessionTimeout: 30_000 })
 *
 * Rejects with a `ConnectError`, after `connectTimeout` at the latest, when no server could be reached: it lists what
 * happened at each. Rejects with a `KeeperError` `AuthFailed` when a credential is refused, with a `TypeError` or
 * `RangeError` for an argument that cannot be right, with the signal's reason when it is aborted.
 */
export async function connect(connectString: string, options: ConnectOptions = {}): Promise<ZooKeeper> {
  const { servers, chroot } = parseConnectString(connectString)
  const checked = checkOptions(options)
  const sessions = new Sessions(servers, checked)
  const zk = new ZooKeeper(sessions, new Chroot(chroot))
  const stands = sessions.first(options.signal)
  const waiting = { timeout: checked.connectTimeout, signal: options.signal }
  const accepted = Promise.all(checked.auth.map(({ scheme, auth }) => zk.addAuth(scheme, auth, waiting)))
  // Until a session stands its failure says more.
  accepted.catch(() => {})
  try {
    await stands
    await accepted
    return zk
  } catch (error) {
    // In the background: the caller has waited long enough.
    void sessions.giveUp()
    throw atCaller(error)
  }
}
