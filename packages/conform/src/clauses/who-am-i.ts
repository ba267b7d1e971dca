import { OpCode } from '@zk/wire'
import type { Session } from '../play/index.ts'
import { jerry, tom } from './acls.ts'
import type { Chapter } from './clause.ts'
import type { Trial } from './trial.ts'

const since = '3.7'

export const whoAmI: Chapter = {
  name: 'who-am-i',
  title: 'Who am I',
  introduction:
    'whoAmI (opcode 107) has no body. It answers with the identities of the connection: a list of scheme and user. It came ' +
    'with 3.7 (ZOOKEEPER-3969); servers before that answer Unimplemented.',
  clauses: [
    {
      number: 1,
      since,
      profile: 'full',
      text: 'A new connection has one identity: the address of the client, with the scheme `ip`.',
      source: 'NIOServerCnxn, AuthUtil.getClientInfos; ZOOKEEPER-3969',
      check: {
        play: (t) => seeIdentities(t),
        expect: ['ip CLIENT'],
      },
    },
    {
      number: 2,
      since,
      profile: 'full',
      text: 'The user of an identity of the scheme `digest` is shown without the digest.',
      source: 'DigestAuthenticationProvider.getUserName',
      check: {
        play: (t) => seeIdentities(t, (a) => a.auth('digest', tom.login)),
        expect: ['digest tom', 'ip CLIENT'],
      },
    },
    {
      number: 3,
      since,
      profile: 'full',
      text: 'All identities are listed, each once. Their order has no meaning.',
      source: 'AuthUtil.getClientInfos, ServerCnxn.authInfo',
      follows: ['who-am-i/2', 'auth/6'],
      check: {
        play: (t) =>
          seeIdentities(t, async (a) => {
            for (const { login } of [tom, jerry, tom]) await a.auth('digest', login)
          }),
        expect: ['digest jerry', 'digest tom', 'ip CLIENT'],
      },
    },
    {
      number: 4,
      since,
      profile: 'full',
      needs: ['superuser'],
      text: 'The superuser is listed with the scheme `super` and an empty user, beside the identity of the scheme `digest`.',
      source: 'DigestAuthenticationProvider.handleAuthentication, AuthUtil.getClientInfos',
      follows: ['who-am-i/2'],
      check: {
        play: (t) => seeIdentities(t, (a) => a.auth('digest', t.superUser)),
        expect: ['digest super', 'ip CLIENT', 'super '],
      },
    },
    {
      number: 5,
      since,
      profile: 'full',
      text: 'The request needs no body. Bytes after its header have no meaning.',
      source: 'FinalRequestProcessor.processRequest',
      follows: ['framing/12'],
      check: {
        play: async (t) => {
          const a = await t.open()
          t.see(t.error(await a.callRaw(OpCode.whoAmI, new Uint8Array(3))))
        },
        expect: ['Ok'],
      },
    },
  ],
}

/** Sees what whoAmI answers, in alphabetical order. */
async function seeIdentities(
  t: Trial,
  prepare: (session: Session) => Promise<unknown> = async () => {},
): Promise<void> {
  const a = await t.open()
  await prepare(a)
  const reply = await a.call('whoAmI', undefined)
  const infos = t.field(reply, 'clientInfo') as readonly ClientInfo[] | undefined
  if (infos === undefined) return t.see(t.error(reply))
  const own = t.scenario.clientAddress
  for (const line of infos.map(({ authScheme, user }) => `${authScheme} ${user === own ? 'CLIENT' : user}`).sort()) {
    t.see(line)
  }
}

interface ClientInfo {
  readonly authScheme: string
  readonly user: string
}
