import { type ACL, Perms } from '@zk/wire'
import { open, type Reply, type Session } from '../play/index.ts'
import { entry, everyone, everyoneBut, jerry, tom } from './acls.ts'
import type { Chapter, Clause } from './clause.ts'
import type { Trial } from './trial.ts'

const { ALL, READ, WRITE, CREATE, DELETE, ADMIN } = Perms
const ofTom = entry(ALL, 'digest', tom.id)

/** The address with these bits of its last part inverted. */
function neighbour(address: string, bits: number): string {
  const radix = address.includes(':') ? 16 : 10
  const [, start = '', last = ''] = /^(.*[.:])(\w+)$/.exec(address) ?? []
  return start + (parseInt(last, radix) ^ bits).toString(radix)
}

/** Which request needs which permission. */
const permissions: readonly Clause[] = [
  {
    number: 1,
    text: '`getData` needs READ.',
    source: 'FinalRequestProcessor.handleGetDataRequest',
    check: { play: (t) => seeNeed(t, READ, (a, path) => a.getData(path)), expect: ['Ok NoAuth'] },
  },
  {
    number: 2,
    text: '`getChildren` and `getChildren2` need READ.',
    source: 'FinalRequestProcessor.processRequest',
    check: {
      play: async (t) => {
        await seeNeed(t, READ, (a, path) => a.getChildren(path))
        await seeNeed(t, READ, (a, path) => a.getChildren2(path), '/again')
      },
      expect: ['Ok NoAuth', 'Ok NoAuth'],
    },
  },
  {
    number: 3,
    since: '3.6',
    profile: 'full',
    text: '`getAllChildrenNumber` needs READ on its node, but not on the nodes below it.',
    source: 'FinalRequestProcessor.processRequest',
    check: {
      play: (t) => seeNeed(t, READ, (a, path) => a.call('getAllChildrenNumber', { path })),
      expect: ['Ok NoAuth'],
    },
  },
  {
    number: 4,
    text: '`setData` needs WRITE.',
    source: 'PrepRequestProcessor.pRequest2Txn',
    check: { play: (t) => seeNeed(t, WRITE, (a, path) => a.setData(path)), expect: ['Ok NoAuth'] },
  },
  {
    number: 5,
    text: '`create` needs CREATE on the parent.',
    source: 'PrepRequestProcessor.pRequest2TxnCreate',
    check: {
      play: async (t) => {
        const a = await t.open()
        // READ and DELETE let the node be removed afterwards.
        await a.create('/with', { acl: everyone(CREATE | READ | DELETE) })
        await a.create('/without', { acl: everyoneBut(CREATE) })
        t.see(t.error(await a.create('/with/a')), t.error(await a.create('/without/a')))
      },
      expect: ['Ok NoAuth'],
    },
  },
  {
    number: 6,
    text: '`delete` needs DELETE on the parent.',
    source: 'PrepRequestProcessor.pRequest2Txn',
    follows: ['acl/32'],
    check: {
      play: async (t) => {
        const a = await t.open()
        await a.create('/a')
        await a.create('/a/b')
        await a.setACL('/a', everyoneBut(DELETE))
        t.see(t.error(await a.delete('/a/b')))
        await a.setACL('/a', everyone(DELETE | READ | ADMIN))
        t.see(t.error(await a.delete('/a/b')))
        await a.setACL('/a', open)
      },
      expect: ['NoAuth', 'Ok'],
    },
  },
  {
    number: 7,
    text: '`delete` needs no permission on the node itself.',
    source: 'PrepRequestProcessor.pRequest2Txn',
    check: {
      play: async (t) => {
        const a = await t.open()
        await a.create('/a', { acl: [ofTom] })
        t.see(t.error(await a.delete('/a')))
      },
      expect: ['Ok'],
    },
  },
  {
    number: 8,
    text: '`setACL` needs ADMIN.',
    source: 'PrepRequestProcessor.pRequest2Txn',
    check: { play: (t) => seeNeed(t, ADMIN, (a, path) => a.setACL(path, open)), expect: ['Ok NoAuth'] },
  },
  {
    number: 9,
    text: '`getACL` needs READ or ADMIN.',
    source: 'FinalRequestProcessor.processRequest; ZOOKEEPER-1392',
    check: {
      play: async (t) => {
        const a = await t.open()
        for (const perms of [READ, ADMIN, ALL & ~READ & ~ADMIN]) {
          await a.create(`/a${perms}`, { acl: everyone(perms) })
          t.see(t.error(await a.getACL(`/a${perms}`)))
        }
      },
      expect: ['Ok', 'Ok', 'NoAuth'],
    },
  },
]

/** Which requests an ACL permits. */
const meaning: readonly Clause[] = [
  {
    number: 10,
    text: 'A permission is given if at least one entry gives it: entries take nothing away.',
    source: 'ZooKeeperServer.checkACL',
    check: {
      play: async (t) => {
        const a = await t.open()
        await a.create('/a', { acl: [entry(0, 'world', 'anyone'), ofTom, ...everyone(READ), ...everyone(WRITE)] })
        t.see(t.error(await a.getData('/a')), t.error(await a.setData('/a')))
      },
      expect: ['Ok Ok'],
    },
  },
  {
    number: 11,
    text: 'A new node has the ACL of its request. It gets nothing from the ACL of its parent, and does not change with it.',
    source: 'DataTree.createNode',
    check: {
      play: async (t) => {
        const a = await t.open()
        await a.create('/a', { acl: [ofTom, ...open] })
        await a.create('/a/b', { acl: everyone(READ) })
        await a.setACL('/a', everyone(ALL & ~WRITE))
        t.see(t.acl(await a.getACL('/a/b')))
      },
      expect: ['[world:anyone 1]'],
    },
  },
  {
    number: 12,
    text: 'An entry of the scheme `digest` fits a session that has this identity.',
    source: 'DigestAuthenticationProvider.matches',
    check: {
      play: async (t) => {
        const a = await t.open()
        await a.create('/a', { acl: [entry(READ, 'digest', tom.id)] })
        await a.auth('digest', jerry.login)
        t.see(t.error(await a.getData('/a')))
        await a.auth('digest', tom.login)
        t.see(t.error(await a.getData('/a')), t.error(await a.setData('/a')))
      },
      expect: ['NoAuth', 'Ok NoAuth'],
    },
  },
  {
    number: 13,
    profile: 'full',
    text:
      'An entry of the scheme `ip` fits a session from this address. With `/bits` after the address, only so many bits of it ' +
      'must be equal.',
    source: 'IPAuthenticationProvider.matches',
    check: {
      play: async (t) => {
        const a = await t.open()
        const own = t.scenario.clientAddress
        const allButOne = own.includes(':') ? 127 : 31
        const near = [`${neighbour(own, 1)}/${allButOne}`, `${neighbour(own, 2)}/${allButOne}`]
        const far = ['203.0.113.7', '203.0.113.0/24']
        for (const [i, id] of [own, `${own}/32`, `${own}/8`, `${own}/0`, ...near, ...far].entries()) {
          await a.create(`/a${i}`, { acl: [entry(READ, 'ip', id)] })
          t.see(t.error(await a.getData(`/a${i}`)))
        }
      },
      expect: ['Ok', 'Ok', 'Ok', 'Ok', 'Ok', 'NoAuth', 'NoAuth', 'NoAuth'],
    },
  },
  {
    number: 14,
    text:
      'An entry of the scheme `auth` is replaced by one entry for each identity that the session has proved with a secret. ' +
      'Its id has no meaning.',
    source: 'PrepRequestProcessor.fixupACL',
    follows: ['auth/6'],
    check: {
      play: async (t) => {
        const a = await t.open()
        await a.auth('digest', tom.login)
        await a.auth('digest', jerry.login)
        await a.create('/a', { acl: [entry(READ | ADMIN, 'auth', 'whatever')] })
        const acl = t.acl(await a.getACL('/a')).slice(1, -1)
        for (const each of acl.split(', ').sort()) t.see(each)
      },
      expect: [`digest:${jerry.id} 17`, `digest:${tom.id} 17`],
    },
  },
  {
    number: 15,
    text: 'If the session has no such identity, an entry of the scheme `auth` is invalid. Its address does not count.',
    source: 'PrepRequestProcessor.fixupACL, IPAuthenticationProvider.isAuthenticated',
    check: {
      play: async (t) => {
        const a = await t.open()
        t.see(t.error(await a.create('/a', { acl: [entry(ALL, 'auth', '')] })))
      },
      expect: ['InvalidACL'],
    },
  },
  {
    number: 16,
    needs: ['superuser'],
    text: 'The superuser may do everything.',
    source: 'ZooKeeperServer.checkACL, DigestAuthenticationProvider.superDigest',
    check: {
      play: async (t) => {
        const a = await t.open()
        await a.create('/a', { acl: [entry(0, 'digest', tom.id)] })
        await a.auth('digest', t.superUser)
        t.see(t.error(await a.getData('/a')), t.error(await a.setData('/a')), t.error(await a.getACL('/a')))
        t.see(t.error(await a.create('/a/b')), t.error(await a.delete('/a/b')), t.error(await a.setACL('/a', open)))
      },
      expect: ['Ok Ok Ok', 'Ok Ok Ok'],
    },
  },
  {
    number: 17,
    needs: ['superuser'],
    profile: 'full',
    text: 'The superuser has an identity of the scheme `digest`, too; this one stands for `auth` in an ACL.',
    source: 'DigestAuthenticationProvider.handleAuthentication',
    check: {
      play: async (t) => {
        const a = await t.open()
        await a.auth('digest', t.superUser)
        await a.create('/a', { acl: [entry(ALL, 'auth', '')] })
        t.see(t.acl(await a.getACL('/a')).replaceAll(/:[^: ]+ /g, ' '))
      },
      expect: ['[digest:super 31]'],
    },
  },
  {
    number: 18,
    profile: 'full',
    text: 'Bits above the five permissions are kept, and have no meaning.',
    source: 'ZooKeeperServer.checkACL',
    check: {
      play: async (t) => {
        const a = await t.open()
        await a.create('/a', { acl: everyone(32) })
        await a.create('/b', { acl: everyone(64 | READ) })
        t.see(t.error(await a.getData('/a')), t.acl(await a.getACL('/b')))
      },
      expect: ['NoAuth [world:anyone 65]'],
    },
  },
]

/** Which ACLs are valid. */
const validity: readonly Clause[] = [
  {
    number: 19,
    text: 'An empty ACL is invalid, for `create` and for `setACL`.',
    source: 'PrepRequestProcessor.fixupACL',
    check: { play: (t) => seeInvalid(t, [[]]), expect: ['InvalidACL InvalidACL'] },
  },
  {
    number: 20,
    profile: 'full',
    text: 'Null in place of an ACL is as invalid as an empty one.',
    source: 'PrepRequestProcessor.removeDuplicates',
    check: {
      play: (t) => seeInvalid(t, [null]),
      expect: ['InvalidACL InvalidACL'],
      differs: [
        {
          before: '3.6',
          what: 'It is a MarshallingError, because the list is used before it is checked.',
          expect: ['MarshallingError MarshallingError'],
        },
      ],
    },
  },
  {
    number: 21,
    text: 'The only id of the scheme `world` is `anyone`.',
    source: 'PrepRequestProcessor.fixupACL',
    check: {
      play: (t) => seeInvalid(t, [[entry(ALL, 'world', 'someone')], [entry(ALL, 'world', '')]]),
      expect: ['InvalidACL InvalidACL', 'InvalidACL InvalidACL'],
    },
  },
  {
    number: 22,
    text: 'A scheme that the server does not know is invalid. Among these is `super`, and `sasl` and `x509` if they are not set up.',
    source: 'PrepRequestProcessor.fixupACL, ProviderRegistry',
    check: {
      play: (t) =>
        seeInvalid(
          t,
          ['no-such-scheme', '', 'super', 'x509'].map((scheme) => [entry(ALL, scheme, 'CN=x')]),
        ),
      expect: ['InvalidACL InvalidACL', 'InvalidACL InvalidACL', 'InvalidACL InvalidACL', 'InvalidACL InvalidACL'],
    },
  },
  {
    number: 23,
    text: 'An id of the scheme `digest` must have the form `user:digest`, with one colon and a digest after it.',
    source: 'DigestAuthenticationProvider.isValid',
    check: {
      play: (t) =>
        seeInvalid(
          t,
          ['', 'tom', 'tom:', ':', 'tom:a:b'].map((id) => [entry(ALL, 'digest', id)]),
        ),
      expect: [
        'InvalidACL InvalidACL',
        'InvalidACL InvalidACL',
        'InvalidACL InvalidACL',
        'InvalidACL InvalidACL',
        'InvalidACL InvalidACL',
      ],
    },
  },
  {
    number: 24,
    profile: 'full',
    text: 'An id of the scheme `ip` must be an address, perhaps with `/` and a number of bits. Names and incomplete addresses are invalid.',
    source: 'IPAuthenticationProvider.isValid',
    check: {
      play: (t) =>
        seeInvalid(
          t,
          ['', 'localhost', '1.2.3', '1.2.3.256', '1.2.3.4/33', '1.2.3.4/'].map((id) => [entry(ALL, 'ip', id)]),
        ),
      expect: [
        'InvalidACL InvalidACL',
        'InvalidACL InvalidACL',
        'InvalidACL InvalidACL',
        'InvalidACL InvalidACL',
        'InvalidACL InvalidACL',
        'InvalidACL InvalidACL',
      ],
    },
  },
  {
    number: 25,
    profile: 'full',
    text: 'An id of the scheme `ip` may be an IPv6 address.',
    source: 'IPAuthenticationProvider.addr2Bytes',
    check: {
      play: async (t) => {
        const a = await t.open()
        t.see(t.error(await a.create('/a', { acl: [entry(ALL, 'ip', '::1')] })))
      },
      expect: ['Ok'],
      differs: [{ before: '3.9.4', what: 'Only IPv4 addresses are valid.', expect: ['InvalidACL'] }],
    },
  },
  {
    number: 26,
    text: 'One invalid entry makes the whole ACL invalid.',
    source: 'PrepRequestProcessor.fixupACL',
    follows: ['acl/21'],
    check: {
      play: (t) => seeInvalid(t, [[...open, entry(ALL, 'world', 'someone')]]),
      expect: ['InvalidACL InvalidACL'],
    },
  },
  {
    number: 27,
    profile: 'full',
    level: 'SHOULD',
    text: 'A null scheme is InvalidACL; a null id is a MarshallingError.',
    source: 'PrepRequestProcessor.fixupACL',
    check: {
      play: (t) => seeInvalid(t, [[entry(ALL, null, null)], [entry(ALL, 'world', null)]]),
      expect: ['InvalidACL InvalidACL', 'MarshallingError MarshallingError'],
    },
  },
  {
    number: 28,
    profile: 'full',
    text: 'Of equal entries only the first is kept. The order of the others stays.',
    source: 'PrepRequestProcessor.removeDuplicates; ZOOKEEPER-1877',
    follows: ['acl/10'],
    check: {
      play: async (t) => {
        const a = await t.open()
        await a.create('/a', { acl: [...everyone(READ), ofTom, ...everyone(READ), ...open] })
        await a.auth('digest', tom.login)
        t.see(t.acl(await a.getACL('/a')))
      },
      expect: [`[world:anyone 1, digest:${tom.id} 31, world:anyone 31]`],
    },
  },
]

/** getACL and setACL. */
const operations: readonly Clause[] = [
  {
    number: 29,
    text: '`getACL` answers with the ACL and the Stat of the node.',
    source: 'FinalRequestProcessor.processRequest, GetACLResponse',
    check: {
      play: async (t) => {
        const a = await t.open()
        await a.create('/a', { data: 'abc', acl: everyone(READ | ADMIN) })
        const reply = await a.getACL('/a')
        t.see(t.acl(reply), t.stat(reply, 'dataLength'))
      },
      expect: ['[world:anyone 17] dataLength 3'],
    },
  },
  {
    number: 30,
    text: '`getACL` of a missing node fails with NoNode.',
    source: 'FinalRequestProcessor.processRequest',
    check: {
      play: async (t) => {
        const a = await t.open()
        t.see(t.error(await a.getACL('/none')))
      },
      expect: ['NoNode'],
    },
  },
  {
    number: 31,
    text: 'Without ADMIN, `getACL` shows `x` in place of each digest. Everything else of the ACL is shown.',
    source: 'FinalRequestProcessor.processRequest; ZOOKEEPER-1392',
    follows: ['acl/29'],
    check: {
      play: async (t) => {
        const a = await t.open()
        await a.create('/a', { acl: [ofTom, ...everyone(READ)] })
        await a.create('/b', { acl: [ofTom, ...everyone(READ | ADMIN)] })
        t.see(t.acl(await a.getACL('/a')))
        t.see(t.acl(await a.getACL('/b')))
      },
      expect: ['[digest:tom:x 31, world:anyone 1]', `[digest:${tom.id} 31, world:anyone 17]`],
    },
  },
  {
    number: 32,
    text: '`setACL` replaces the whole ACL, and answers with the Stat.',
    source: 'DataTree.setACL',
    check: {
      play: async (t) => {
        const a = await t.open()
        await a.create('/a', { data: 'abc', acl: [ofTom, ...open] })
        t.see(t.stat(await a.setACL('/a', everyone(READ)), 'dataLength'), t.acl(await a.getACL('/a')))
      },
      expect: ['dataLength 3 [world:anyone 1]'],
    },
  },
  {
    number: 33,
    text: 'The version of a `setACL` is compared with `aversion`, not with that of the data. Version -1 fits any; other negative ones never fit.',
    source: 'PrepRequestProcessor.checkAndIncVersion',
    follows: ['stat/14'],
    check: {
      play: async (t) => {
        const a = await t.open()
        await a.create('/a')
        await a.setData('/a')
        await a.setData('/a')
        for (const version of [2, 0, 1, -1, -2]) t.see(version, t.error(await a.setACL('/a', open, version)))
      },
      expect: ['2 BadVersion', '0 Ok', '1 Ok', '-1 Ok', '-2 BadVersion'],
    },
  },
  {
    number: 34,
    text:
      '`setACL` tries in this order: the path (BadArguments), the ACL (InvalidACL), the node (NoNode), the permission ' +
      '(NoAuth), the version (BadVersion).',
    source: 'PrepRequestProcessor.pRequest2Txn',
    follows: ['acl/19', 'acl/8'],
    check: {
      play: async (t) => {
        const a = await t.open()
        await a.create('/a')
        await a.create('/locked', { acl: everyoneBut(ADMIN) })
        t.see(t.error(await a.setACL('/none/', [], 9)))
        t.see(t.error(await a.setACL('/none', [], 9)))
        t.see(t.error(await a.setACL('/none', open, 9)))
        t.see(t.error(await a.setACL('/locked', open, 9)))
        t.see(t.error(await a.setACL('/a', open, 9)))
      },
      expect: ['BadArguments', 'InvalidACL', 'NoNode', 'NoAuth', 'BadVersion'],
    },
  },
  {
    number: 35,
    text:
      'An ACL may take all permissions from the session that sets it. It applies to all requests that are sent after the ' +
      'reply. One that is sent earlier may be checked against the old ACL.',
    source: 'PrepRequestProcessor.pRequest2Txn: the record of an outstanding setACL still has the old ACL',
    follows: ['acl/4', 'acl/8', 'acl/32'],
    check: {
      play: async (t) => {
        const a = await t.open()
        await a.create('/a')
        t.see(t.error(await a.setACL('/a', [ofTom])))
        t.see(t.error(await a.setData('/a')), t.error(await a.setACL('/a', open)))
      },
      expect: ['Ok', 'NoAuth NoAuth'],
    },
  },
  {
    number: 36,
    profile: 'full',
    text: 'A session that may create a node may give it an ACL that does not permit the session anything.',
    source: 'PrepRequestProcessor.pRequest2TxnCreate',
    check: {
      play: async (t) => {
        const a = await t.open()
        t.see(t.error(await a.create('/a', { acl: [entry(0, 'digest', tom.id)] })), t.error(await a.getData('/a')))
      },
      expect: ['Ok NoAuth'],
    },
  },
]

export const acl: Chapter = {
  name: 'acl',
  title: 'Access control lists',
  introduction:
    'Each node has an ACL: a list of entries (perms, scheme, id). `perms` is a sum of READ 1, WRITE 2, CREATE 4, DELETE 8 and ' +
    'ADMIN 16. An entry gives its permissions to all sessions with an identity of this scheme that fits the id. The usual ACL ' +
    'is one entry: 31 for `world`, `anyone`. Servers check an ACL when a node is created and when `setACL` sets it, and ' +
    'before each request that needs a permission; without it the request fails with NoAuth. See also [reads](reads.md) for ' +
    '`exists`, and [watches](watches.md) for events of nodes that a session may not read.',
  clauses: [...permissions, ...meaning, ...validity, ...operations],
}

/** Sees the error of a request for a node with only these permissions, and for one with all others. */
async function seeNeed(
  t: Trial,
  perms: number,
  ask: (session: Session, path: string) => Promise<Reply>,
  path = '/a',
): Promise<void> {
  const a = await t.open()
  await a.create(`${path}-with`, { acl: everyone(perms) })
  await a.create(`${path}-without`, { acl: everyoneBut(perms) })
  t.see(t.error(await ask(a, `${path}-with`)), t.error(await ask(a, `${path}-without`)))
}

/** Sees the errors of a `create` and a `setACL` with each of these ACLs. */
async function seeInvalid(t: Trial, acls: readonly (readonly ACL[] | null)[]): Promise<void> {
  const a = await t.open()
  await a.create('/a')
  for (const acl of acls) t.see(t.error(await a.create('/b', { acl })), t.error(await a.setACL('/a', acl)))
}
