// What cannot be right is refused before anything is sent.
import { describe, expect, test } from 'vitest'
import { Group, ServiceDiscovery } from '../../src/index.ts'
import { Scene } from '../support/scene.ts'

const scene = new Scene()
const zk = await scene.client()
const group = new Group(zk, '/workers')
const services = new ServiceDiscovery(zk, '/services')
const register = (instance: object) => services.register({ name: 'orders', ...instance })
const wrong = (value: unknown) => value as never

const calls: [string, () => unknown, string][] = [
  ['new Group without a client', () => new Group(wrong({}), '/a'), 'the first argument must be a client'],
  ['new Group of the root', () => new Group(zk, '/'), "path must not be '/'"],
  ['new Group of a bad path', () => new Group(zk, 'workers'), 'path'],
  ['new Group with an unknown option', () => new Group(zk, '/a', wrong({ data: '' })), 'unknown option data'],
  ['new Group with a bad ACL', () => new Group(zk, '/a', { acl: [] }), 'acl must be a list'],
  ['join with an unknown option', () => group.join(wrong({ label: 'x' })), 'unknown option label'],
  ['join with an empty name', () => group.join({ name: '' }), 'name must be a non-empty string without a slash'],
  [
    'join with a slash in the name',
    () => group.join({ name: 'a/b' }),
    'name must be a non-empty string without a slash',
  ],
  ['join with a dot for a name', () => group.join({ name: '..' }), 'path'],
  ['join with a number for a name', () => group.join({ name: wrong(1) }), 'not number'],
  ['join with data of no kind', () => group.join({ data: wrong({}) }), 'data must be a string or a Uint8Array'],
  ['join with a negative timeout', () => group.join({ timeout: -1 }), 'timeout must be a number of ms'],
  ['join with a bad signal', () => group.join({ signal: wrong({}) }), 'signal must be an AbortSignal'],
  ['list with an unknown option', () => group.members(wrong({ depth: 1 })), 'unknown option depth'],
  ['members with a timeout', () => group.watchMembers(wrong({ timeout: 1 })).next(), 'unknown option timeout'],
  [
    'new ServiceDiscovery with a bad listener',
    () => new ServiceDiscovery(zk, '/a', { onUnreadable: wrong(1) }),
    'onUnreadable',
  ],
  ['register with a slash in the service', () => register({ name: 'a/b' }), 'name must be a non-empty string'],
  ['register with a slash in the id', () => register({ id: 'a/b' }), 'id must be a non-empty string'],
  ['register with an unknown field', () => register({ host: 'x' }), 'an instance has no field host'],
  ['register with a port of no kind', () => register({ port: '80' }), 'port must be an integer from 0 to 65535'],
  ['register with a port that is too large', () => register({ sslPort: 65_536 }), 'sslPort must be an integer'],
  ['register with a payload that JSON has not', () => register({ payload: 1n }), 'BigInt'],
  ['register with braces that do not match', () => register({ uriSpec: '{scheme' }), 'pairs of braces'],
  ['register with braces that nest', () => register({ uriSpec: '{a{b}}' }), 'pairs of braces'],
  ['register with an enabled of no kind', () => register({ enabled: 1 }), 'enabled must be true or false'],
  ['instances of a bad service', () => services.instances(''), 'name must be a non-empty string'],
]

describe('Group', () => {
  test.each(calls)('%s is refused before anything is sent', async (_, call, message) => {
    const since = scene.since()
    await expect(async () => await call()).rejects.toThrow(message)
    await scene.world.settle()
    expect(since.asked).toEqual([])
  })

  test('update with data of no kind is refused before anything is sent', async () => {
    const me = await scene.done(group.join())
    const since = scene.since()
    await expect(me.update(wrong(undefined))).rejects.toThrow('data must be a string or a Uint8Array')
    await expect(me.update('', wrong({ version: 1 }))).rejects.toThrow('unknown option version')
    expect(since.asked).toEqual([])
  })
})
