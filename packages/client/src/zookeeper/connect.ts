import { parseConnectString } from '@zk/wire'
import { wasAborted } from '../base/aborts.ts'
import { Chroot } from '../base/chroot.ts'
import { atCaller, KeeperError } from '../base/errors.ts'
import { type AuthInfo, checkOptions, type ConnectOptions } from './options.ts'
import { toBytes } from '../base/arguments.ts'
import { report } from '../telemetry/channels.ts'
import { SessionChain } from './session-chain.ts'
import { ZooKeeper } from './zookeeper.ts'

/**
 * Connects to an ensemble. Resolves when the session is established and its credentials are accepted.
 *
 *     const zk = await connect('zk1:2181,zk2:2181,zk3:2181/app', { sessionTimeout: 15_000 })
 *
 * Rejects with a `ConnectError`, after `connectTimeout` at the latest, if no server could be reached. The error lists what
 * happened at each server. Rejects with a `KeeperError` `AuthFailed` if a credential is refused, with a `TypeError` or
 * `RangeError` for an invalid argument, and with the reason of the signal if it aborts.
 */
export async function connect(connectString: string, options: ConnectOptions = {}): Promise<ZooKeeper> {
  const { servers, chroot } = parseConnectString(connectString)
  const checked = checkOptions(options)
  const sessions = new SessionChain(checked.name ?? connectString, servers, checked)
  const zk = new ZooKeeper(sessions, new Chroot(chroot))
  report('zk:client', () => ({ client: zk.name, zk }))
  const established = sessions.first(options.signal)
  const until = checked.runtime.now() + checked.connectTimeout
  // Copies: they are read again in the next session, and the caller may overwrite its own.
  const auth = checked.auth.map((each) => ({ scheme: each.scheme, auth: new Uint8Array(toBytes(each.auth)) }))
  const accepted = Promise.all(auth.map((each) => addAuthAcrossSessions(zk, each, until, options.signal)))
  // If the session is not established, `accepted` rejects, too. Its error is ignored: the error of the session is more precise.
  accepted.catch(() => {})
  try {
    await established
    await accepted
    return zk
  } catch (error) {
    // In the background: the caller need not wait for this.
    void sessions.giveUp()
    throw atCaller(error, options.signal)
  }
}

/** Adds a credential. If the session expires before the answer, adds it again in the next session. */
async function addAuthAcrossSessions(
  zk: ZooKeeper,
  { scheme, auth }: AuthInfo,
  until: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  for (;;) {
    const { session } = zk
    try {
      return await zk.addAuth(scheme, auth, { timeout: Math.max(0, until - zk.runtime.now()), signal })
    } catch (error) {
      const isGone = KeeperError.is(error, 'SessionExpired') && !wasAborted(error, signal)
      if (!isGone || zk.session === session) throw error
    }
  }
}
