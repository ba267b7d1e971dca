import { createHash } from 'node:crypto'
import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { digestMd5, type DigestMd5Options, KeeperError, type SaslExchange } from '../../src/index.ts'
import { parseDirectives } from '../../src/sasl/directives.ts'
import { thrownBy } from '../support/thrown.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const text = (token: unknown) => new TextDecoder().decode(token as Uint8Array)

/** The example of RFC 2831, section 4. */
const chris = { username: 'chris', password: 'secret', digestUri: 'imap/elwood.innosoft.com' }
const challenge = 'realm="elwood.innosoft.com",nonce="OA6MG9tEQGm2hh",qop="auth",algorithm=md5-sess,charset=utf-8'

function begin(options: DigestMd5Options = chris, cnonce = 'OA6MHXh6VqTrRk'): SaslExchange {
  return digestMd5(options).start({ server: 'zk1:2181', nonce: () => cnonce }) as SaslExchange
}

const answerTo = (said: string, options?: DigestMd5Options) => text(begin(options).step(bytes(said)))

describe('digestMd5', () => {
  test('digestMd5 says and expects what the example of RFC 2831 does', () => {
    const exchange = begin()
    expect(exchange.first).toBeUndefined()
    const answer = parseDirectives(exchange.step(bytes(challenge)) as Uint8Array)
    expect(Object.fromEntries(answer)).toEqual({
      charset: ['utf-8'],
      username: ['chris'],
      realm: ['elwood.innosoft.com'],
      nonce: ['OA6MG9tEQGm2hh'],
      nc: ['00000001'],
      cnonce: ['OA6MHXh6VqTrRk'],
      'digest-uri': ['imap/elwood.innosoft.com'],
      qop: ['auth'],
      response: ['d388dad90d4bbd760a152321f2143af7'],
    })
    expect(exchange.step(bytes('rspauth=ea40f60335c427b5527b84dbabcdfffd'))).toBeUndefined()
  })

  test('digestMd5 does not take a server for one that knows the password when it does not prove it', () => {
    for (const said of ['rspauth=ea40f60335c427b5527b84dbabcdfffe', 'x=y', '']) {
      const exchange = begin()
      void exchange.step(bytes(challenge))
      expect(() => exchange.step(bytes(said)), said).toThrow('the server does not know the password itself')
    }
  })

  test('digestMd5 takes no answer to its own for a refusal, and none at all for a server without SASL', () => {
    expect(() => begin().step(undefined)).toThrow(/the server does not know SASL: .*leave out the option sasl$/)
    const exchange = begin()
    void exchange.step(bytes(challenge))
    expect(
      KeeperError.is(
        thrownBy(() => exchange.step(undefined)),
        'AuthFailed',
      ),
    ).toBe(true)
  })

  test('digestMd5 reads the name of a charset in any case', () => {
    const upper = challenge.replace('charset=utf-8', 'charset=UTF-8')
    const answer = parseDirectives(begin().step(bytes(upper)) as Uint8Array)
    expect(answer.get('charset')).toEqual(['utf-8'])
  })

  test.each(['auth', 'auth-int,auth', 'auth-int, auth', 'auth ,auth-conf', 'auth-int\t,\tauth , auth-conf'])(
    'digestMd5 finds its quality of protection in the list %j',
    (qop) => {
      const answer = begin().step(bytes(challenge.replace('qop="auth"', `qop="${qop}"`))) as Uint8Array
      expect(parseDirectives(answer).get('qop')).toEqual(['auth'])
    },
  )

  test('digestMd5 names ZooKeeper, by default', () => {
    expect(answerTo(challenge, { username: 'a', password: 'b' })).toContain(',digest-uri="zookeeper/zk-sasl-md5",')
  })

  test('digestMd5 escapes what is in quotes, and hashes it as it is', () => {
    const said = answerTo(String.raw`nonce="a\"\\b",algorithm=md5-sess`, { username: 'a"b\\', password: 'c' })
    expect(said).toContain(String.raw`username="a\"b\\",nonce="a\"\\b",nc=`)
    expect(parseDirectives(bytes(said)).get('username')).toEqual(['a"b\\'])
  })

  test('digestMd5 hashes as ISO 8859-1 what can be, and all else as UTF-8', () => {
    const hashOf = (username: Uint8Array, password: Uint8Array) => {
      const secret = createHash('md5').update(username).update('::').update(password).digest()
      const a1 = createHash('md5').update(secret).update(':n:c').digest('hex')
      const a2 = createHash('md5').update('AUTHENTICATE:zookeeper/zk-sasl-md5').digest('hex')
      return createHash('md5').update(`${a1}:n:00000001:c:auth:${a2}`).digest('hex')
    }
    const exchange = begin({ username: 'jürgen', password: '密码' }, 'c')
    const said = text(exchange.step(bytes('nonce="n",algorithm=md5-sess,charset=utf-8')))
    expect(said).toContain('username="jürgen"')
    expect(said).toContain(`response=${hashOf(Buffer.from('jürgen', 'latin1'), bytes('密码'))}`)
  })

  test('digestMd5 says nothing beyond ISO 8859-1 to a server that does not know UTF-8', () => {
    const latin = begin({ username: 'jürgen', password: 'x' }).step(bytes('nonce="n",algorithm=md5-sess')) as Uint8Array
    expect(Buffer.from(latin).toString('latin1')).toContain('username="jürgen"')
    const options = { username: '密码', password: 'x' }
    expect(() => answerTo('nonce="n",algorithm=md5-sess', options)).toThrow('charset=utf-8')
  })

  test('digestMd5 sends its user, its authorizationId and its realm as configured', () => {
    const said = answerTo(challenge, { ...chris, authorizationId: 'anne', realm: 'other' })
    expect(said).toMatch(/realm="other",.*,authzid="anne"$/)
    expect(said).not.toContain('d388dad90d4bbd760a152321f2143af7')
  })

  test('digestMd5 takes the first of several realms, and says none where none was offered', () => {
    expect(answerTo('realm="one",realm="two",nonce="n",algorithm=md5-sess')).toContain('realm="one"')
    expect(answerTo('nonce="n",algorithm=md5-sess')).not.toContain('realm')
  })

  test.each([
    ['algorithm=md5-sess', 'has no nonce'],
    ['nonce="n"', 'has no algorithm'],
    ['nonce="n",nonce="m",algorithm=md5-sess', 'more than one nonce'],
    ['nonce="n",algorithm=md5', 'an algorithm other than md5-sess'],
    ['nonce="n",algorithm=md5-sess,qop="auth-int,auth-conf"', 'a quality of protection other than auth'],
    ['nonce', 'malformed'],
    ['nonce="n', 'malformed'],
    ['nonce="n" x', 'malformed'],
  ])('digestMd5 does not go on when the server says %s', (said, message) => {
    expect(() => begin().step(bytes(said))).toThrow(message)
  })

  test.each([
    [undefined, 'digestMd5: options must be an object such as { username, password }'],
    [{ username: 'a' }, 'digestMd5: password must be a string'],
    [{ username: '', password: 'secret' }, 'digestMd5: username must be a string, and not empty'],
    [{ username: 'a', password: 12_345 }, 'digestMd5: password must be a string'],
    [{ username: 'a', password: 'secret', realm: 5 }, 'digestMd5: realm must be a string'],
    [
      { username: 'a', password: 'secret', user: 'b' },
      'digestMd5: unknown option user (did you mean username?); known are username',
    ],
  ])('digestMd5 refuses %o', (options, message) => {
    const error = thrownBy(() => digestMd5(options as DigestMd5Options)) as Error
    expect(error).toBeInstanceOf(TypeError)
    expect(error.message).toContain(message)
    expect(inspect(error)).not.toMatch(/secret|12_?345/)
  })

  test('digestMd5 gives a mechanism and exchanges that do not show the password (S26)', () => {
    const mechanism = digestMd5(chris)
    const exchange = mechanism.start({ server: 'zk1:2181', nonce: () => 'x' })
    expect(inspect([mechanism, exchange], { depth: Infinity, showHidden: true })).not.toContain('secret')
    expect(JSON.stringify([mechanism, exchange])).not.toContain('secret')
  })
})
