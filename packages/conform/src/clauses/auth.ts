import { Perms, Xid } from '@zk/wire'
import { type Reply, type Session, utf8 } from '../play/index.ts'
import { entry, everyone, jerry, tom } from './acls.ts'
import type { Chapter } from './clause.ts'
import type { Trial } from './trial.ts'

const ofTom = [entry(Perms.ALL, 'digest', tom.id)]

export const auth: Chapter = {
  name: 'auth',
  title: 'Authentication',
  introduction:
    'A connection has identities, each of a scheme. It begins with one of the scheme `ip`: the address of the client. An auth ' +
    'packet (opcode 100: type, scheme, auth) adds more, at any time after the handshake. With the scheme `digest` it has the ' +
    'text `user:password`, and the identity is `user:BASE64(SHA1("user:password"))`. Servers know no users: identities ' +
    'only matter where an ACL lists them.',
  clauses: [
    {
      number: 1,
      text: 'A session that has sent `user:password` with the scheme `digest` has the identity `user:BASE64(SHA1("user:password"))`.',
      source: 'DigestAuthenticationProvider.generateDigest',
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/a', { acl: ofTom })
          t.see(t.error(await a.getData('/a')))
          t.see(t.error(await a.auth('digest', tom.login)))
          t.see(t.error(await a.getData('/a')))
        },
        expect: ['NoAuth', 'Ok', 'Ok'],
      },
    },
    {
      number: 2,
      text: 'The reply is a header alone, with the zxid 0.',
      source: 'ZooKeeperServer.processPacket',
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/a')
          const reply = await a.auth('digest', tom.login)
          t.see('zxid', reply?.zxid ?? 'none', 'body', `'${t.lastBody(a)}'`)
        },
        expect: ["zxid 0 body ''"],
      },
    },
    {
      number: 3,
      text: 'Clients send auth packets under the xid -4. The reply has the xid of the packet, whatever it is.',
      source: 'ZooKeeperServer.processPacket, ClientCnxn.AUTHPACKET_XID',
      check: {
        play: async (t) => {
          const a = await t.open()
          for (const xid of [Xid.auth, 77]) {
            const reply = await a.call('auth', { type: 0, scheme: 'digest', auth: utf8(tom.login) }, { xid })
            t.see(reply?.xid ?? 'none')
          }
        },
        expect: ['-4', '77'],
      },
    },
    {
      number: 4,
      profile: 'full',
      text: 'The field `type` of an auth packet has no meaning.',
      source: 'ZooKeeperServer.processPacket',
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/a', { acl: ofTom })
          const request = { type: 7, scheme: 'digest', auth: utf8(tom.login) }
          t.see(t.error(await a.call('auth', request, { xid: Xid.auth })))
          t.see(t.error(await a.getData('/a')))
        },
        expect: ['Ok', 'Ok'],
      },
    },
    {
      number: 5,
      text: 'A password is never refused: a wrong one is answered with Ok, and makes another identity.',
      source: 'DigestAuthenticationProvider.handleAuthentication',
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/a', { acl: ofTom })
          t.see(t.error(await a.auth('digest', 'tom:wrong')))
          t.see(t.error(await a.getData('/a')))
        },
        expect: ['Ok', 'NoAuth'],
      },
    },
    {
      number: 6,
      text: 'Identities add up: a session has those of all its auth packets.',
      source: 'ServerCnxn.addAuthInfo',
      follows: ['auth/1'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/a', { acl: ofTom })
          await a.create('/b', { acl: [entry(Perms.ALL, 'digest', jerry.id)] })
          await a.auth('digest', tom.login)
          await a.auth('digest', jerry.login)
          t.see(t.error(await a.getData('/a')), t.error(await a.getData('/b')))
        },
        expect: ['Ok Ok'],
      },
    },
    {
      number: 7,
      text: 'An auth packet counts for all requests that are sent after it, also if the client has not waited for the reply.',
      source: 'ZooKeeperServer.processPacket',
      follows: ['auth/1'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/a', { acl: ofTom })
          const [, read] = await Promise.all([a.auth('digest', tom.login), a.getData('/a')])
          t.see(t.error(read))
        },
        expect: ['Ok'],
      },
    },
    {
      number: 8,
      text: 'Identities belong to the connection, not to the session. A client sends its auth packets again on each connection.',
      source: 'ServerCnxn.authInfo',
      follows: ['auth/1', 'sessions/1'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/a', { acl: ofTom })
          await a.auth('digest', tom.login)
          await a.drop()
          const b = await t.open({ session: a })
          t.see(t.error(await b.getData('/a')))
          await b.auth('digest', tom.login)
          t.see(t.error(await b.getData('/a')))
        },
        expect: ['NoAuth', 'Ok'],
      },
    },
    {
      number: 9,
      text: 'A packet with a scheme that the server does not know is answered with AuthFailed. Then the server closes the connection.',
      source: 'ZooKeeperServer.processPacket',
      check: {
        play: (t) => seeFailure(t, (a) => a.auth('no-such-scheme', 'x')),
        expect: ['AuthFailed, closed'],
      },
    },
    {
      number: 10,
      text: 'A failed auth packet does not end the session: it can be resumed, with its ephemeral nodes.',
      source: 'ZooKeeperServer.processPacket',
      follows: ['auth/9', 'sessions/1'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/e', { flags: 1 })
          await a.auth('no-such-scheme', 'x')
          await a.connection.closed
          const b = await t.open({ session: a })
          t.see(b.sessionId === a.sessionId, t.error(await b.exists('/e')))
        },
        expect: ['true Ok'],
      },
    },
    {
      number: 11,
      text: 'Nobody can claim the schemes `world`, `auth` and `super`: AuthFailed.',
      source: 'ProviderRegistry.getServerProvider',
      follows: ['auth/9'],
      check: {
        play: async (t) => {
          for (const scheme of ['world', 'auth', 'super']) await seeFailure(t, (a) => a.auth(scheme, 'anyone'))
        },
        expect: ['AuthFailed, closed', 'AuthFailed, closed', 'AuthFailed, closed'],
      },
    },
    {
      number: 12,
      profile: 'full',
      text: 'An auth packet with the scheme `sasl` is answered with AuthFailed: there are other packets for SASL.',
      source: 'SASLAuthenticationProvider.handleAuthentication',
      follows: ['auth/9'],
      check: {
        play: (t) => seeFailure(t, (a) => a.auth('sasl', 'bob')),
        expect: ['AuthFailed, closed'],
      },
    },
    {
      number: 13,
      profile: 'full',
      text: 'The scheme `x509` is unknown, unless the server has a port with TLS: AuthFailed.',
      source: 'ProviderRegistry.initialize',
      follows: ['auth/9'],
      check: {
        play: (t) => seeFailure(t, (a) => a.auth('x509', 'CN=tom')),
        expect: ['AuthFailed, closed'],
      },
    },
    {
      number: 14,
      profile: 'full',
      text: 'A null scheme is an unknown scheme: AuthFailed.',
      source: 'ProviderRegistry.getServerProvider',
      follows: ['auth/9'],
      check: {
        play: (t) => seeFailure(t, (a) => a.auth(null, 'x')),
        expect: ['AuthFailed, closed'],
      },
    },
    {
      number: 15,
      profile: 'full',
      text: 'The scheme `ip` is answered with Ok, and adds the address that the client really has, whatever the packet says.',
      source: 'IPAuthenticationProvider.handleAuthentication',
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/a', { acl: [entry(Perms.ALL, 'ip', '203.0.113.7')] })
          t.see(t.error(await a.auth('ip', '203.0.113.7')))
          t.see(t.error(await a.getData('/a')))
        },
        expect: ['Ok', 'NoAuth'],
      },
    },
    {
      number: 16,
      profile: 'full',
      text: 'The user is the text before the first colon; the rest may have colons. The digest is that of the whole text.',
      source: 'DigestAuthenticationProvider.generateDigest',
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/a', { acl: [entry(Perms.ALL, 'digest', 'tom:H7jNKZAEZDPn8UfB5WTtcaw74No=')] })
          await a.auth('digest', 'tom:a:b')
          t.see(t.error(await a.getData('/a')))
        },
        expect: ['Ok'],
      },
    },
    {
      number: 17,
      profile: 'full',
      level: 'SHOULD',
      text: 'A digest without a colon, or with nothing at all, is accepted: the whole text is the user.',
      source: 'DigestAuthenticationProvider.generateDigest',
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/a', { acl: [entry(Perms.ALL, 'digest', 'no-colon:AcPnK4kh6C+bhVAPov+t9tlwYwk=')] })
          t.see(t.error(await a.auth('digest', 'no-colon')), t.error(await a.getData('/a')))
          t.see(t.error(await a.auth('digest', '')))
        },
        expect: ['Ok Ok', 'Ok'],
      },
    },
    {
      number: 18,
      profile: 'full',
      text: 'A digest that is null is answered with AuthFailed.',
      source: 'DigestAuthenticationProvider.handleAuthentication',
      follows: ['auth/9'],
      check: {
        play: (t) => seeFailure(t, (a) => a.auth('digest', null)),
        expect: ['AuthFailed, closed'],
      },
    },
    {
      number: 19,
      profile: 'full',
      text: 'A packet that ends too early has no reply: the server closes the connection.',
      source: 'ZooKeeperServer.processPacket, NIOServerCnxn.doIO',
      check: {
        play: async (t) => {
          const a = await t.open()
          const request = { type: 0, scheme: 'digest', auth: utf8(tom.login) }
          t.see(await t.silence(a, a.callCut('auth', request, 4)))
        },
        expect: ['closed'],
      },
    },
    {
      number: 20,
      profile: 'full',
      text: 'The same packet again changes nothing: an identity counts once.',
      source: 'ServerCnxn.addAuthInfo',
      follows: ['auth/1'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.auth('digest', tom.login)
          await a.auth('digest', tom.login)
          await a.create('/a', { acl: [entry(Perms.ALL, 'auth', '')] })
          t.see(t.acl(await a.getACL('/a')))
        },
        expect: [`[digest:${tom.id} 31]`],
      },
    },
    {
      number: 21,
      profile: 'full',
      text: 'A session has the permissions of everyone beside those of its identities.',
      source: 'ZooKeeperServer.checkACL',
      follows: ['auth/1'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/a', { acl: everyone(Perms.READ) })
          await a.auth('digest', tom.login)
          t.see(t.error(await a.getData('/a')))
        },
        expect: ['Ok'],
      },
    },
  ],
}

/** Sees the error of a packet that is refused, and whether the server has closed the connection. */
async function seeFailure(t: Trial, ask: (session: Session) => Promise<Reply>): Promise<void> {
  const a = await t.open()
  t.see(await t.ending(a, await ask(a)))
}
