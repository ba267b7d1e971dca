import { AuthPacket, OpCode, readNamed, Reader, RequestHeader } from '@zk/wire'
import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import type { Credential } from '../src/operations/add-auth.ts'
import { Credentials } from '../src/session/requests/credentials.ts'
import type { Request } from '../src/session/requests/request.ts'
import { made } from './support/made-requests.ts'
import { bodiesIn } from './support/machine-frames.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const alice: Credential = { scheme: 'digest', auth: bytes('alice:secret') }
const bob: Credential = { scheme: 'digest', auth: bytes('bob:secret') }

function caller(expiresAt = Infinity): Request {
  return made({ op: 'addAuth', opCode: OpCode.auth, expiresAt })
}

test('Credentials.frames gives a packet with xid -4 for every credential, in the order they were added', () => {
  const credentials = [alice]
  const auths = new Credentials(credentials)
  auths.add(bob, caller())
  const packets = auths
    .frames()
    .flatMap(bodiesIn)
    .map((body) => {
      const reader = new Reader(body)
      return { ...readNamed(RequestHeader, reader), packet: readNamed(AuthPacket, reader) }
    })
  expect(packets).toEqual([
    { xid: -4, type: OpCode.auth, packet: { type: 0, scheme: 'digest', auth: alice.auth } },
    { xid: -4, type: OpCode.auth, packet: { type: 0, scheme: 'digest', auth: bob.auth } },
  ])
})

test('Credentials.add keeps the credential in the list of the client, for the sessions that follow', () => {
  const credentials: Credential[] = []
  new Credentials(credentials).add(alice, caller())
  expect(credentials).toEqual([alice])
})

test('Credentials.add keeps one of equal credentials, and sends each', () => {
  const credentials: Credential[] = []
  const auths = new Credentials(credentials)
  for (let count = 0; count < 1_000; count++) {
    const waiting = caller()
    auths.add({ scheme: 'digest', auth: bytes('alice:secret') }, waiting)
    expect(auths.frames()).toHaveLength(1)
    expect(auths.answered()).toBe(waiting)
  }
  expect(credentials).toEqual([alice])
  auths.add(bob, caller())
  auths.add({ scheme: 'ip', auth: alice.auth }, caller())
  expect(credentials).toEqual([alice, bob, { scheme: 'ip', auth: alice.auth }])
  auths.interrupted()
  expect(auths.frames()).toHaveLength(3)
})

test('Credentials.takeCallers leaves a credential that was sent before, though it was to be sent again', () => {
  const credentials: Credential[] = []
  const auths = new Credentials(credentials)
  auths.add(alice, caller())
  auths.frames()
  auths.answered()
  const again = caller()
  auths.add({ ...alice }, again)
  expect(auths.takeCallers(() => true)).toEqual([again])
  expect(credentials).toEqual([alice])
})

test('Credentials.add of a credential whose equal is unanswered leaves both callers their answers', () => {
  const credentials: Credential[] = []
  const auths = new Credentials(credentials)
  const [first, second] = [caller(), caller()]
  auths.add(alice, first)
  auths.frames()
  auths.add({ ...alice }, second)
  auths.frames()
  expect([auths.answered(), auths.answered()]).toEqual([first, second])
  auths.add({ ...alice }, caller())
  auths.add({ ...alice }, caller())
  expect(credentials.length).toBeLessThanOrEqual(3)
})

test('Credentials.answered gives the callers in the order their credentials were sent', () => {
  const auths = new Credentials([])
  const [first, second] = [caller(), caller()]
  auths.add(alice, first)
  auths.frames()
  auths.add(bob, second)
  auths.frames()
  expect([auths.answered(), auths.answered()]).toEqual([first, second])
})

test('Credentials.answered returns no caller for a credential without a waiting caller, and for an answer too many', () => {
  const auths = new Credentials([alice])
  const waiting = caller()
  auths.frames()
  auths.add(bob, waiting)
  auths.frames()
  expect([auths.answered(), auths.answered(), auths.answered()]).toEqual([undefined, waiting, undefined])
})

test('Credentials.interrupted lets the callers wait for the answer of the next connection', () => {
  const auths = new Credentials([])
  const waiting = caller()
  auths.add(alice, waiting)
  auths.frames()
  auths.interrupted()
  expect(auths.answered()).toBeUndefined()
  expect(auths.frames()).toHaveLength(1)
  expect(auths.answered()).toBe(waiting)
  expect(auths.answered()).toBeUndefined()
})

test('Credentials.answered gives a caller once: when its credential is sent again, no caller waits for the answer', () => {
  const auths = new Credentials([])
  auths.add(alice, caller(10))
  auths.frames()
  expect(auths.answered()?.phase).toBe('settled')
  expect(auths.nextTimeout).toBe(Infinity)
  auths.interrupted()
  auths.frames()
  expect(auths.answered()).toBeUndefined()
})

test('Credentials.takeCallers takes callers that no longer wait; what was sent for them stays', () => {
  const credentials: Credential[] = []
  const auths = new Credentials(credentials)
  const [early, late] = [caller(10), caller(20)]
  auths.add(alice, early)
  auths.add(bob, late)
  auths.frames()
  expect(auths.takeCallers(({ expiresAt }) => expiresAt <= 10)).toEqual([early])
  expect([auths.answered(), auths.answered()]).toEqual([undefined, late])
  expect(credentials).toEqual([alice, bob])
})

test('Credentials.takeCallers takes back what was not sent yet: it never will be', () => {
  const credentials: Credential[] = []
  const auths = new Credentials(credentials)
  const [early, late] = [caller(10), caller(20)]
  auths.add(alice, early)
  auths.add(bob, late)
  expect(auths.takeCallers(({ expiresAt }) => expiresAt <= 10)).toEqual([early])
  expect(auths.frames()).toHaveLength(1)
  expect(credentials).toEqual([bob])
})

test('Credentials.takeCallers leaves a credential that was in the list before, though this session has not sent it yet', () => {
  const credentials = [alice]
  const auths = new Credentials(credentials)
  const again = caller()
  auths.add({ ...alice }, again)
  expect(auths.takeCallers(() => true)).toEqual([again])
  expect(credentials).toEqual([alice])
  expect(auths.frames()).toHaveLength(1)
})

test('Credentials.nextTimeout is that of the caller whose time is up first; Infinity when none waits', () => {
  const auths = new Credentials([])
  expect(auths.nextTimeout).toBe(Infinity)
  auths.add(alice, caller(20))
  auths.add(bob, caller(10))
  expect(auths.nextTimeout).toBe(10)
  auths.takeCallers(() => true)
  expect(auths.nextTimeout).toBe(Infinity)
})

test('Credentials shows no secret when printed', () => {
  const auths = new Credentials([alice])
  auths.frames()
  expect(inspect(auths, { depth: null, showHidden: true })).not.toMatch(/alice|secret|97, 108/)
})
