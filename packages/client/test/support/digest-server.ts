// A server's part of DIGEST-MD5 (RFC 2831), for one user.
import { createHash } from 'node:crypto'

export const user = { username: 'user', password: 'secret' } as const
const CHALLENGE = 'realm="zk-sasl-md5",nonce="fuzz",charset=utf-8,algorithm=md5-sess,qop="auth"'

const md5 = (...parts: (string | Uint8Array)[]) => parts.reduce((hash, part) => hash.update(part), createHash('md5'))

/** What the server answers to a token: first a challenge, then that it knows the password, too. */
export function challengeOf(token: Uint8Array | null): Uint8Array {
  const said = new TextDecoder().decode(token ?? undefined)
  const cnonce = /cnonce="([^"]*)"/.exec(said)?.[1]
  if (cnonce === undefined) return new TextEncoder().encode(CHALLENGE)
  const secret = md5(`${user.username}:zk-sasl-md5:${user.password}`).digest()
  const a1 = md5(secret, `:fuzz:${cnonce}`).digest('hex')
  const a2 = md5(':zookeeper/zk-sasl-md5').digest('hex')
  return new TextEncoder().encode(`rspauth=${md5(`${a1}:fuzz:00000001:${cnonce}:auth:${a2}`).digest('hex')}`)
}
