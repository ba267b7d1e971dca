import type { DialTarget, Runtime } from '@zk/client'
import { Connection } from './connection.ts'
import { ask, parseCons } from './four-letter-word.ts'
import { Session } from './session.ts'
import { Transcript } from './transcript.ts'

/**
 * The address of this process, as the server sees it; undefined if it does not say. By default servers do not answer `cons`, and
 * before 3.7 they do not know whoAmI.
 */
export async function addressSeenBy(server: DialTarget, runtime: Runtime): Promise<string | undefined> {
  const [asking] = parseCons(await ask(server.port, 'cons', { host: server.host, runtime }))
  return asking?.peer.replace(/:\d+$/, '') ?? (await addressOfSession(server, runtime))
}

async function addressOfSession(server: DialTarget, runtime: Runtime): Promise<string | undefined> {
  const connection = await Connection.open(server, 'address', new Transcript(), runtime)
  try {
    const session = await Session.open(connection, '')
    const reply = await session.call('whoAmI', undefined)
    if (session.isOpen) await session.close()
    const identities = reply?.op === 'whoAmI' ? reply.response?.clientInfo : undefined
    return identities?.find(({ authScheme }) => authScheme === 'ip')?.user ?? undefined
  } finally {
    connection.hangUp()
  }
}
