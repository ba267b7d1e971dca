import { describe, expect, test } from 'vitest'
import { formatServer, parseConnectString } from '../src/index.ts'

describe('parseConnectString reads servers', () => {
  test.each([
    ['a', 'a:2181'],
    ['a:1', 'a:1'],
    ['a:65535', 'a:65535'],
    ['a:02181', 'a:2181'],
    ['a,b:2,c', 'a:2181 b:2 c:2181'],
    ['  a:1 ,\tb ', 'a:1 b:2181'],
    [',a,,b,', 'a:2181 b:2181'],
    ['a,a', 'a:2181 a:2181'],
    ['zk_1.example.org:2281', 'zk_1.example.org:2281'],
    ['10.0.0.1', '10.0.0.1:2181'],
    ['[::1]', '[::1]:2181'],
    ['[2001:db8::1]:2281,[fe80::1%eth0]', '[2001:db8::1]:2281 [fe80::1%eth0]:2181'],
  ])('parseConnectString reads %j', (text, servers) => {
    expect(parseConnectString(text)).toEqual({ servers: expect.anything(), chroot: '/' })
    expect(serversOf(text)).toBe(servers)
  })

  test('parseConnectString takes the brackets off an address, and formatServer puts them on again', () => {
    const { servers } = parseConnectString('[::1]:2281')
    expect(servers).toEqual([{ host: '::1', port: 2281 }])
    expect(servers.map(formatServer)).toEqual(['[::1]:2281'])
  })
})

describe('parseConnectString reads a chroot', () => {
  test.each([
    ['a', '/'],
    ['a/', '/'],
    ['a/x', '/x'],
    ['a:1,b:2/x/y', '/x/y'],
    ['a:1,b:2 /x', '/x'],
    ['[::1]:1/x', '/x'],
  ])('parseConnectString %j has the chroot %j', (text, chroot) => {
    expect(parseConnectString(text).chroot).toBe(chroot)
  })

  test.each([
    ['a/x/', `connectString: the chroot must not end with '/'`],
    ['a//x', `connectString: the chroot must not have an empty name between two '/'`],
    ['a/x/../y', 'connectString: the chroot must not have the relative part ".."'],
  ])('parseConnectString refuses %j as validatePath does', (text, message) => {
    expect(() => parseConnectString(text)).toThrow(new TypeError(message))
  })
})

describe('parseConnectString tells a comma in a chroot from one more server', () => {
  test.each([
    ['h:2181/a,b', '/a,b'],
    ['h/a,b/c', '/a,b/c'],
    ['h/a:b', '/a:b'],
    ['h/a:1', '/a:1'],
    ['h/a,b:c', '/a,b:c'],
    ['h/a,b:1c', '/a,b:1c'],
    ['h/a,b/c:1', '/a,b/c:1'],
    ['h/a,b/c/a', '/a,b/c/a'],
    ['h/a,[b]c', '/a,[b]c'],
    ['h/a,', '/a,'],
  ])('parseConnectString %j has the chroot %j', (text, chroot) => {
    expect(parseConnectString(text)).toMatchObject({ chroot, servers: [{ host: 'h' }] })
  })

  test.each([
    'a:2181/x,b:2181/x',
    'a:2181/x,b:2181',
    'a/x, b:2181 ',
    'a/x,y,b:1/x',
    'a/x,b/x',
    'a/x/y,b/x/y',
    'a:1/,b:1/',
    'a/,b',
    'a/x,[::1]',
    'a/x,[::1]:2181/x',
    'a/x, [::1]:2181',
    'a/x , b:2181',
  ])('parseConnectString refuses %j', (text) => {
    const reason = 'there is only one chroot, at the end: "host:port,host:port/chroot"'
    expect(() => parseConnectString(text)).toThrow(new TypeError(`connectString: ${reason}`))
  })
})

describe('parseConnectString says what is wrong', () => {
  test.each([
    ['', 'connectString: no server named; write "host:port,host:port/chroot"'],
    [' , ', 'connectString: no server named; write "host:port,host:port/chroot"'],
    ['/x', 'connectString: no server named; write "host:port,host:port/chroot"'],
    ['zk://a:2181', 'connectString: it is not a URL; write "host:port,host:port/chroot"'],
    ['dns-srv://zk.example.org/x', 'connectString: it is not a URL; write "host:port,host:port/chroot"'],
  ])('parseConnectString refuses %j', (text, message) => {
    expect(() => parseConnectString(text)).toThrow(new TypeError(message))
  })

  test.each([
    '::1',
    'fe80::1',
    '2001:db8::1:2181',
    '[::1]2181',
    '[::1',
    '[]:1',
    ':1',
    'a]',
    'a;b',
    'a b',
    'a|b',
    'a:2181;b:2181',
    'a:2181 b:2181',
    'a:2181|b:2181',
    'a:2181;b',
    'digest!me!pw!a:2181',
    '${ZK_HOSTS}',
    '"a:2181"',
    'a\u001b[2J:2181',
    'a\u202e',
    '[::1\u009b]',
    'a:2181:2182',
    '[a b]',
    '[a;b]:1',
  ])('parseConnectString refuses %j, which is not host and port, and shows both forms and the comma', (entry) => {
    const reason = 'is neither "host:port" nor "[::1]:2181"; servers are separated by ","'
    expect(() => parseConnectString(entry)).toThrow(new TypeError(`connectString: server 1 ${reason}`))
  })

  test.each(['me@a:1', 'me:pw@a:2181', 'me:p:w@[::1]/x'])(
    'parseConnectString refuses %j, and says where credentials are given',
    (entry) => {
      const message = 'connectString: server 1 has an "@"; give credentials by the option auth'
      expect(() => parseConnectString(entry)).toThrow(new TypeError(message))
    },
  )

  test.each(['a:0', 'a:65536', 'a:', 'a:-1', 'a:2e3', '[::1]:0'])(
    'parseConnectString refuses %j, whose port cannot be',
    (entry) => {
      expect(() => parseConnectString(entry)).toThrow(
        new TypeError('connectString: server 1 must have a port from 1 to 65535'),
      )
    },
  )

  test('parseConnectString names the one server that is wrong', () => {
    expect(() => parseConnectString('a:1,b:x,c')).toThrow('connectString: server 2 must have a port')
  })

  test.each<unknown>([undefined, null, 2181, { a: 2181 }])(
    'parseConnectString refuses %j, which is no string',
    (value) => {
      const type = value === null ? 'null' : typeof value
      expect(() => parseConnectString(value as string)).toThrow(
        new TypeError(`connectString must be a string: "host:port,host:port/chroot", not ${type}`),
      )
    },
  )
})

test('parseConnectString takes a time that grows with its text, also of spaces alone', () => {
  const chroot = `/a,${' '.repeat(200_000)}!`
  const start = performance.now()
  expect(parseConnectString(`h${chroot}`).chroot).toBe(chroot)
  // Where it grows with the square, this takes a minute.
  expect(performance.now() - start).toBeLessThan(10_000)
})

function serversOf(text: string): string {
  return parseConnectString(text).servers.map(formatServer).join(' ')
}
