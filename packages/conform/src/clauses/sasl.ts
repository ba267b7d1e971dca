import { digestMd5 } from '@zk/client'
import { Perms } from '@zk/wire'
import { type Reply, type Session, utf8 } from '../play/index.ts'
import { entry } from './acls.ts'
import type { Chapter, ReleaseDifference } from './clause.ts'
import type { Trial } from './trial.ts'

const profile = 'extended'
const nothing = new Uint8Array()

const BEFORE_4839: ReleaseDifference = {
  before: '3.9.3',
  what: 'Any name is accepted with the password of the user who has logged in last, and the session gets that name.',
  expect: ['Ok'],
}

export const sasl: Chapter = {
  name: 'sasl',
  title: 'SASL',
  introduction:
    'A client may prove its identity by SASL, after the handshake and before its first request. Its packets (opcode 102: a ' +
    'token) have ordinary xids; each is answered with a token, or with null. The mechanism is that of the servers’ JAAS ' +
    'configuration: GSSAPI (Kerberos), or DIGEST-MD5 (RFC 2831), in which the client begins with an empty token, and the ' +
    'server answers with a challenge. The identity has the scheme `sasl`; its id is the name of the user. A ZooKeeper from ' +
    '3.9.6 on knows DIGEST-MD5 only with `zookeeper.fips-mode=false`, and otherwise refuses every token with AuthFailed.',
  clauses: [
    {
      number: 1,
      profile,
      text: 'A token is answered under its own xid, with the zxid 0.',
      source: 'ZooKeeperServer.processSasl',
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/a')
          const reply = await a.call('sasl', { token: nothing }, { xid: 77 })
          t.see('xid', reply?.xid ?? 'none', 'zxid', reply?.zxid ?? 'none')
        },
        expect: ['xid 77 zxid 0'],
      },
    },
    {
      number: 2,
      profile,
      text: 'A server that is not set up for SASL answers every token with Ok and null, and serves the session as before.',
      source: 'ZooKeeperServer.processSasl: it has no SaslServer, and catches the NullPointerException',
      check: {
        play: async (t) => {
          const a = await t.open()
          const reply = await a.call('sasl', { token: nothing })
          t.see(t.error(reply), tokenOf(t, reply) === undefined ? 'null' : 'a token')
          t.see(t.error(await a.create('/a')))
        },
        expect: ['Ok null', 'Ok'],
        allowed: [['Ok a token', 'Ok']],
      },
    },
    {
      number: 3,
      profile,
      text: 'A token that is null has no reply: the server closes the connection.',
      source: 'ZooKeeperServer.processSasl',
      check: {
        play: async (t) => {
          const a = await t.open()
          t.see(await t.silence(a, a.call('sasl', { token: null })))
        },
        expect: ['closed'],
      },
    },
    {
      number: 4,
      profile,
      text: 'A packet that ends too early has no reply: the server closes the connection.',
      source: 'ZooKeeperServer.processSasl, NIOServerCnxn.doIO',
      check: {
        play: async (t) => {
          const a = await t.open()
          t.see(await t.silence(a, a.callCut('sasl', { token: utf8('token') }, 2)))
        },
        expect: ['closed'],
      },
    },
    {
      number: 5,
      profile,
      needs: ['sasl'],
      text: 'A session that sends no token is served, too, unless the servers require SASL. It has no identity of the scheme `sasl`.',
      source: 'AuthenticationHelper.enforceAuthentication',
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/a', { acl: [entry(Perms.ALL, 'sasl', userOf(t).username)] })
          t.see(t.error(await a.create('/b')), t.error(await a.getData('/a')))
        },
        expect: ['Ok NoAuth'],
      },
    },
    {
      number: 6,
      profile,
      needs: ['sasl'],
      text: 'DIGEST-MD5: an empty token is answered with a challenge. It has the realm `zk-sasl-md5`, a nonce, and the algorithm `md5-sess`.',
      source: 'SecurityUtils.createSaslServer; RFC 2831, 2.1.1',
      check: {
        play: async (t) => {
          const a = await t.open()
          const reply = await a.call('sasl', { token: nothing })
          const challenge = new TextDecoder().decode(tokenOf(t, reply))
          t.see(t.error(reply))
          for (const part of [/realm="([^"]*)"/, /algorithm=([\w-]*)/, /(nonce)="[^"]+"/]) {
            t.see(part.exec(challenge)?.[1] ?? 'missing')
          }
        },
        expect: ['Ok', 'zk-sasl-md5', 'md5-sess', 'nonce'],
      },
    },
    {
      number: 7,
      profile,
      needs: ['sasl'],
      text: 'DIGEST-MD5: each challenge has a nonce of its own.',
      source: 'RFC 2831, 2.1.1',
      follows: ['sasl/6'],
      check: {
        play: async (t) => {
          const nonces = new Set<string | undefined>()
          for (let i = 0; i < 3; i++) {
            const reply = await (await t.open()).call('sasl', { token: nothing })
            nonces.add(/nonce="([^"]*)"/.exec(new TextDecoder().decode(tokenOf(t, reply)))?.[1])
          }
          t.see(nonces.size)
        },
        expect: ['3'],
      },
    },
    {
      number: 8,
      profile,
      needs: ['sasl'],
      text: 'DIGEST-MD5: a proof that the client knows the password is answered with the server’s own proof, `rspauth=…`.',
      source: 'SaslServerCallbackHandler; RFC 2831, 2.1.3',
      follows: ['sasl/6'],
      check: {
        play: async (t) => {
          const proof = await prove(t, await t.open(), userOf(t))
          t.see(t.error(proof.reply), proof.isServerProved)
        },
        expect: ['Ok true'],
      },
    },
    {
      number: 9,
      profile,
      needs: ['sasl'],
      text: 'After that the session has the identity `sasl:user`. An entry of an ACL with this scheme and this id fits it.',
      source: 'ZooKeeperServer.processSasl, SASLAuthenticationProvider.matches',
      follows: ['sasl/8'],
      check: {
        play: async (t) => {
          const a = await t.open()
          const { username } = userOf(t)
          await a.create('/own', { acl: [entry(Perms.ALL, 'sasl', username)] })
          await a.create('/other', { acl: [entry(Perms.ALL, 'sasl', `not-${username}`)] })
          await prove(t, a, userOf(t))
          t.see(t.error(await a.getData('/own')), t.error(await a.getData('/other')))
        },
        expect: ['Ok NoAuth'],
      },
    },
    {
      number: 10,
      profile,
      needs: ['sasl'],
      text: 'The scheme `auth` in an ACL stands for this identity, too.',
      source: 'PrepRequestProcessor.fixupACL, SASLAuthenticationProvider.isAuthenticated',
      follows: ['sasl/9'],
      check: {
        play: async (t) => {
          const a = await t.open()
          const { username } = userOf(t)
          await prove(t, a, userOf(t))
          await a.create('/a', { acl: [entry(Perms.ALL, 'auth', '')] })
          t.see(t.acl(await a.getACL('/a')).replaceAll(username, 'USER'))
        },
        expect: ['[sasl:USER 31]'],
      },
    },
    {
      number: 11,
      profile,
      needs: ['sasl'],
      text: 'The identity belongs to the connection, not to the session.',
      source: 'ServerCnxn.authInfo',
      follows: ['sasl/9'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await prove(t, a, userOf(t))
          await a.create('/a', { acl: [entry(Perms.ALL, 'auth', '')] })
          await a.drop()
          const b = await t.open({ session: a })
          t.see(t.error(await b.getData('/a')))
        },
        expect: ['NoAuth'],
      },
    },
    {
      number: 12,
      profile,
      needs: ['sasl'],
      text: 'A wrong password is answered with AuthFailed. Then the server closes the connection.',
      source: 'ZooKeeperServer.processSasl',
      follows: ['sasl/6'],
      check: {
        play: async (t) => {
          const { username, password } = userOf(t)
          const a = await t.open()
          t.see(await t.ending(a, (await prove(t, a, { username, password: `not-${password}` })).reply))
        },
        expect: ['AuthFailed, closed'],
      },
    },
    {
      number: 13,
      profile,
      needs: ['sasl'],
      text: 'A user that the servers do not know is refused like a wrong password.',
      source: 'SaslServerCallbackHandler.handleNameCallback',
      follows: ['sasl/12'],
      check: {
        play: async (t) => {
          const { username, password } = userOf(t)
          const strangers = { username: `not-${username}`, password: `not-${password}` }
          const a = await t.open()
          t.see(await t.ending(a, (await prove(t, a, strangers)).reply))
        },
        expect: ['AuthFailed, closed'],
      },
    },
    {
      number: 14,
      profile,
      needs: ['sasl'],
      text: 'A user that the servers do not know is refused, even with the password of the user who was there last.',
      source: 'SaslServerCallbackHandler.handlePasswordCallback; ZOOKEEPER-4839',
      follows: ['sasl/13'],
      check: {
        play: async (t) => {
          const { username, password } = userOf(t)
          await prove(t, await t.open(), { username, password })
          const a = await t.open()
          t.see(await t.ending(a, (await prove(t, a, { username: `not-${username}`, password })).reply))
        },
        expect: ['AuthFailed, closed'],
        differs: [BEFORE_4839],
      },
    },
    {
      number: 15,
      profile,
      needs: ['sasl'],
      level: 'MAY',
      text: 'DIGEST-MD5: a first token that is not empty is answered with a challenge like an empty one.',
      source: 'DigestMD5Server of the JDK',
      follows: ['sasl/6'],
      check: {
        play: async (t) => {
          const a = await t.open()
          const reply = await a.call('sasl', { token: utf8('username="bob"') })
          t.see(t.error(reply), /nonce="/.test(new TextDecoder().decode(tokenOf(t, reply))))
        },
        expect: ['Ok true'],
      },
    },
    {
      number: 16,
      profile,
      needs: ['sasl'],
      level: 'SHOULD',
      text: 'The reply that refuses a token has a body, too: null as token.',
      source: 'ZooKeeperServer.processSasl',
      follows: ['sasl/12'],
      check: {
        play: async (t) => {
          const a = await t.open()
          const { username, password } = userOf(t)
          await prove(t, a, { username, password: `not-${password}` })
          t.see(`'${t.lastBody(a)}'`)
        },
        expect: ["'ffffffff'"],
      },
    },
    {
      number: 17,
      profile,
      needs: ['sasl'],
      text: 'A failed exchange does not end the session: it can be resumed on another connection.',
      source: 'ZooKeeperServer.processSasl',
      follows: ['sasl/12'],
      check: {
        play: async (t) => {
          const a = await t.open()
          const { username, password } = userOf(t)
          await prove(t, a, { username, password: `not-${password}` })
          const b = await t.open({ session: a })
          t.see(b.sessionId === a.sessionId)
        },
        expect: ['true'],
      },
    },
    {
      number: 18,
      profile,
      needs: ['sasl'],
      text: 'A connection has one exchange: a token after it is refused.',
      source: 'ZooKeeperSaslServer.evaluateResponse',
      follows: ['sasl/8'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await prove(t, a, userOf(t))
          t.see(await t.ending(a, await a.call('sasl', { token: nothing })))
        },
        expect: ['AuthFailed, closed'],
      },
    },
    {
      number: 19,
      profile,
      since: '3.7',
      needs: ['sasl'],
      text: '`whoAmI` lists the identity with the scheme `sasl` and the name of the user.',
      source: 'AuthUtil.getClientInfos',
      follows: ['sasl/8'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await prove(t, a, userOf(t))
          const infos = t.field(await a.call('whoAmI', undefined), 'clientInfo') as readonly Record<string, string>[]
          const own = infos.find(({ authScheme }) => authScheme === 'sasl')
          t.see(own?.['user'] === userOf(t).username)
        },
        expect: ['true'],
      },
    },
    {
      number: 20,
      profile,
      text:
        'A server that requires SASL (`zookeeper.sessionRequireClientSASLAuth`) answers every request of a connection without ' +
        'an identity of the scheme `sasl` with SessionClosedRequireSaslAuth (-124), even a ping, and closes the connection. ' +
        'Only auth packets are answered as usual. A refused token has the same error.',
      source: 'AuthenticationHelper.enforceAuthentication; ZOOKEEPER-1634, ZOOKEEPER-3561',
      check: {
        unchecked: 'A server that requires SASL does not serve the sessions with which everything else is checked.',
      },
    },
    {
      number: 21,
      profile,
      text: 'A user that the servers have as `zookeeper.superUser` also gets the identity of the superuser.',
      source: 'ZooKeeperServer.isSaslSuperUser',
      check: { unchecked: 'A setting of the servers would have to be known, and the password of that user.' },
    },
  ],
}

interface SaslUser {
  readonly username: string
  readonly password: string
}

function userOf(t: Trial): SaslUser {
  const [username = '', ...password] = (t.scenario.stage.saslUser ?? '').split(':')
  if (username === '') throw new Error('no user of SASL is known')
  return { username, password: password.join(':') }
}

function tokenOf(t: Trial, reply: Reply): Uint8Array | undefined {
  return (t.field(reply, 'token') as Uint8Array | null | undefined) ?? undefined
}

/** Proves the identity of a user, with the last reply and whether the server has proved that it knows the password, too. */
async function prove(
  t: Trial,
  session: Session,
  user: SaslUser,
): Promise<{ readonly reply: Reply; readonly isServerProved: boolean }> {
  const { runtime } = t.scenario.stage
  const exchange = await digestMd5(user).start({ server: '', nonce: () => runtime.uuid() })
  const challenge = await session.call('sasl', { token: nothing })
  if (tokenOf(t, challenge) === undefined) return { reply: challenge, isServerProved: false }
  const answer = await exchange.step(tokenOf(t, challenge))
  const reply = await session.call('sasl', { token: answer ?? null })
  const proof = tokenOf(t, reply)
  if (proof === undefined) return { reply, isServerProved: false }
  try {
    await exchange.step(proof)
    return { reply, isServerProved: true }
  } catch {
    return { reply, isServerProved: false }
  }
}
