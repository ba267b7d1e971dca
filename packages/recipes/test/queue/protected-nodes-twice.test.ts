// Two creates without an answer, looked for at leaders that are leaders no more: what one of them shows is not all that there is.
import { KeeperError, type Session, type ZooKeeper } from '@zk/client'
import { expect, test } from 'vitest'
import { ProtectedNodes } from '../../src/queue/protected-nodes.ts'
import { Queue } from '../../src/queue/queue.ts'
import { exclusive } from '../../src/queue/roles.ts'

const PATH = '/locks/report'
const SESSION = 0x2an
const UUID = '0123abcd-0123-4567-89ab-0123456789ab'

/** A client whose creates are not answered, and whose lists are these, one after the other; the last one stays. */
function client(lists: ((uuid: string) => string[])[]) {
  const calls: string[] = []
  const uuid = UUID
  let looks = 0
  const zk = {
    create: async (path: string) => {
      calls.push('create')
      throw new KeeperError('ConnectionLoss', { op: 'create', path, outcomeUnknown: true })
    },
    sync: async () => void calls.push('sync'),
    multi: async () => void calls.push('check'),
    getChildren: async () => {
      calls.push('list')
      return { children: lists[Math.min(looks++, lists.length - 1)]!(uuid) }
    },
    exists: async (path: string) => ({ ephemeralOwner: SESSION, czxid: BigInt(path.slice(-10)) }),
    delete: async (path: string) => void calls.push(`delete ${path}`),
  } as unknown as ZooKeeper
  const session = { id: SESSION, signal: new AbortController().signal } as Session
  const queue = new Queue(zk, PATH, exclusive.kinds)
  return { calls, create: new ProtectedNodes(session, uuid, [{ queue, kind: exclusive.kind, data: '' }], undefined) }
}

const node = (uuid: string, number: number) => `_c_${uuid}-lock-${String(number).padStart(10, '0')}`

test('ProtectedNodes.make whose second create is not answered either looks behind a committed request, and keeps the older node', async () => {
  const { calls, create } = client([() => [], (uuid) => [node(uuid, 1), node(uuid, 2)]])
  const made = await create.make()
  expect(made?.[0].czxid).toBe(1n)
  // What the second search finds is all that there is: it comes behind the check.
  expect(calls.slice(0, 6)).toEqual(['create', 'sync', 'list', 'create', 'check', 'sync'])
  expect(calls.filter((call) => call.startsWith('delete'))).toEqual([`delete ${PATH}/${node(UUID, 2)}`])
})

test('ProtectedNodes.make whose only unanswered create is found needs no committed request', async () => {
  const { calls, create } = client([(uuid) => [node(uuid, 1)]])
  expect((await create.make())?.[0].czxid).toBe(1n)
  expect(calls).toEqual(['create', 'sync', 'list'])
})
