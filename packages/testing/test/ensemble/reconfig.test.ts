import { type ACL, ErrorCode } from '@zk/wire'
import { describe, expect, test } from 'vitest'
import type { EnsembleOptions } from '../../src/index.ts'
import { Bench, type RawClient } from '../support/bench.ts'

const OPEN: readonly ACL[] = [{ perms: 31, id: { scheme: 'world', id: 'anyone' } }]
const CONFIG = '/zookeeper/config'
const superDigest = 'super:lK75jTNcA+U9vtVEw5vB51mj/w4='
const reconfigEnabled = true

const server = (id: number, rest = ';2181', host = `zk${id}`) => `server.${id}=${host}:2888:3888:participant${rest}`
const text = (data: Uint8Array | null | undefined) => new TextDecoder().decode(data ?? undefined)

interface Change {
  readonly joining?: string | null
  readonly leaving?: string | null
  readonly members?: string | null
  readonly from?: bigint
}

function scene(options: EnsembleOptions = { reconfigEnabled, superDigest }) {
  const bench = new Bench(options)
  const client = bench.connect({ member: bench.model.leader!.name })
  const last = (who: RawClient) => who.replies.at(-1)!
  const answer = ({ joining = null, leaving = null, members = null, from = -1n }: Change) => {
    const lists = { joiningServers: joining, leavingServers: leaving, newMembers: members, curConfigId: from }
    client.ask('reconfig', lists)
    bench.pass(0)
    return last(client)
  }
  const asSuper = () =>
    client.ask('auth', { type: 0, scheme: 'digest', auth: new TextEncoder().encode('super:secret') }, -4)
  const config = (member = bench.model.leader!.name) => text(bench.model.member(member).node(CONFIG)?.data)
  return { bench, client, answer, err: (change: Change) => answer(change).err, asSuper, config }
}

describe('reconfig', () => {
  test('reconfig is disabled by default, for the superuser too', () => {
    const { asSuper, err, config } = scene({ superDigest })
    asSuper()
    expect(err({ joining: server(1) })).toBe(ErrorCode.ReconfigDisabled)
    expect(config()).toMatch(/\nversion=0$/)
  })

  test('reconfig of a server alone is Unimplemented', () => {
    const { err, client } = scene({ members: 1, reconfigEnabled })
    expect(err({ joining: server(1) })).toBe(ErrorCode.Unimplemented)
    expect(client.closed).toBeUndefined()
  })

  test('reconfig changes the configuration node, under its zxid, and notifies watchers', () => {
    const { bench, asSuper, answer, config, client } = scene()
    expect(config()).toBe(
      ['zk1', 'zk2', 'zk3'].map((name, i) => `server.${i + 1}=${name}:2888:3888:participant\n`).join('') +
        'version=100000000',
    )
    client.ask('getData', { path: CONFIG, watch: true })
    bench.pass(0)
    asSuper()
    const { err, response, zxid } = answer({ joining: server(2), from: 0x1_0000_0000n })
    expect(err).toBe(0)
    const changed = `server.1=zk1:2888:3888:participant\n${server(2, ';0.0.0.0:2181')}\nserver.3=zk3:2888:3888:participant\nversion=${zxid.toString(16)}`
    const { data, stat } = response as { data: Uint8Array; stat: object }
    expect(text(data)).toBe(changed)
    expect(stat).toMatchObject({ mzxid: zxid, version: -1, dataLength: changed.length })
    expect(client.events.map(({ event }) => event.path)).toEqual([CONFIG])
    bench.pass(100)
    for (const { name } of bench.model.members) expect(config(name)).toBe(changed)
  })

  test('reconfig outlives the leader, and a member that was down learns of it', () => {
    const { bench, asSuper, answer, config } = scene()
    const [first, second, third] = bench.model.members
    const away = [first!, second!, third!].find(({ role }) => role === 'follower')!
    away.kill()
    asSuper()
    const { err } = answer({ members: [1, 2, 3].map((id) => server(id)).join(',') })
    expect(err).toBe(0)
    const after = config()
    away.restart()
    bench.model.leader!.kill()
    bench.pass(5_000)
    expect(config()).toBe(after)
    expect(config(away.name)).toBe(after)
  })

  test.each<[string, number, Change]>([
    ['the version of another configuration', ErrorCode.BadVersion, { joining: server(1), from: 5n }],
    ['a server without a port for clients', ErrorCode.BadArguments, { joining: server(1, '') }],
    ['a server without an election port', ErrorCode.BadArguments, { joining: 'server.1=zk1:2888;2181' }],
    ['what is no server', ErrorCode.BadArguments, { joining: 'server.1' }],
    ['an id that is no number', ErrorCode.MarshallingError, { joining: 'server.x=zk1:2888:3888;2181' }],
    ['an id that is no number, to leave', ErrorCode.MarshallingError, { leaving: 'x' }],
    ['an address that another server has', ErrorCode.BadArguments, { joining: server(1, ';2181', 'zk2') }],
    ['one server that is left', ErrorCode.BadArguments, { leaving: '2,3' }],
    ['an unknown line', ErrorCode.BadArguments, { members: 'tickTime=5' }],
    [
      'more strangers than followers',
      ErrorCode.NewConfigNoQuorum,
      { joining: [4, 5, 6].map((id) => server(id)).join(',') },
    ],
    ['a group', ErrorCode.Unimplemented, { members: [1, 2, 3].map((id) => server(id)).join(',') + ',group.1=1:2:3' }],
    ['nothing wrong, but no right to it', ErrorCode.NoAuth, { joining: server(1) }],
  ])('reconfig with %s is refused with %i', (_, code, change) => {
    const { err, config } = scene()
    const before = config()
    expect(err(change)).toBe(code)
    expect(config()).toBe(before)
  })

  test('a member that has left serves its clients, but counts for no quorum any more', () => {
    const { bench, asSuper, err, config, client } = scene()
    const { leader, members } = bench.model
    const [left, stays] = members.filter((member) => member !== leader)
    asSuper()
    expect(err({ leaving: left!.name.slice(-1) })).toBe(ErrorCode.Ok)
    bench.pass(100)
    expect(config(left!.name)).not.toContain(`=${left!.name}:`)
    const guest = bench.connect({ member: left!.name })
    guest.ask('create', { path: '/a', data: null, acl: OPEN, flags: 0 })
    bench.pass(100)
    expect(guest.replies.at(-1)?.err).toBe(ErrorCode.Ok)
    stays!.freeze()
    client.ask('create', { path: '/b', data: null, acl: OPEN, flags: 0 })
    bench.pass(100)
    expect(client.replies.at(-1)?.op).toBe('reconfig')
    stays!.thaw()
    bench.pass(100)
    expect(client.replies.at(-1)?.op).toBe('create')
  })

  test('a member that has left is never elected, and may come back', () => {
    const { bench, asSuper, err } = scene()
    const { leader, members } = bench.model
    const [left, stays] = members.filter((member) => member !== leader)
    const id = Number(left!.name.slice(-1))
    asSuper()
    expect(err({ leaving: String(id) })).toBe(ErrorCode.Ok)
    stays!.kill()
    bench.pass(20_000)
    // One of two voters is no quorum, whoever else runs.
    expect(members.map(({ role }) => role)).not.toContain('leader')
    stays!.restart()
    bench.pass(5_000)
    expect(bench.model.leader).not.toBe(left)
    const client = bench.connect({ member: bench.model.leader!.name })
    client.ask('auth', { type: 0, scheme: 'digest', auth: new TextEncoder().encode('super:secret') }, -4)
    const lists = { joiningServers: server(id), leavingServers: null, newMembers: null, curConfigId: -1n }
    client.ask('reconfig', lists)
    bench.pass(100)
    expect(client.replies.at(-1)?.err).toBe(ErrorCode.Ok)
    stays!.kill()
    bench.pass(5_000)
    expect(bench.model.isServing).toBe(true)
  })

  test('a leader that leaves answers, and steps down', () => {
    const { bench, asSuper, answer, config } = scene()
    const leader = bench.model.leader!
    asSuper()
    expect(answer({ leaving: leader.name.slice(-1) }).err).toBe(ErrorCode.Ok)
    bench.pass(5_000)
    expect(leader.role).toBe('follower')
    expect(bench.model.leader).not.toBe(leader)
    expect(config(leader.name)).not.toContain(`=${leader.name}:`)
  })

  test('a stranger may join: it counts as a voter that is down', () => {
    const { bench, asSuper, err, client } = scene()
    const follower = bench.model.members.find(({ role }) => role === 'follower')!
    asSuper()
    expect(err({ joining: server(4) })).toBe(ErrorCode.Ok)
    // Two of four are no quorum.
    follower.freeze()
    client.ask('create', { path: '/a', data: null, acl: OPEN, flags: 0 })
    bench.pass(100)
    expect(client.replies.at(-1)?.op).toBe('reconfig')
    follower.thaw()
    bench.pass(100)
    expect(client.replies.at(-1)?.op).toBe('create')
  })

  test('a plain write to the configuration node changes no voters', () => {
    const { bench } = scene()
    bench.model.nodes.setData(CONFIG, `${server(7)}\nversion=9`)
    bench.model.leader!.kill()
    bench.pass(5_000)
    expect(bench.model.leader).toBeDefined()
  })

  test('reconfig is for one at a time', () => {
    const { bench, asSuper, client, config } = scene()
    asSuper()
    for (const { name } of bench.model.members) {
      if (name !== bench.model.leader!.name) bench.model.member(name).freeze()
    }
    const lists = { joiningServers: server(1), leavingServers: null, newMembers: null, curConfigId: -1n }
    client.ask('create', { path: '/a', data: null, acl: OPEN, flags: 0 })
    client.ask('reconfig', lists)
    client.ask('reconfig', lists)
    for (const member of bench.model.members) member.thaw()
    bench.pass(100)
    expect(client.replies.slice(-2).map(({ err }) => err)).toEqual([0, ErrorCode.ReconfigInProgress])
    expect(config()).toContain(server(1, ';0.0.0.0:2181'))
  })
})
