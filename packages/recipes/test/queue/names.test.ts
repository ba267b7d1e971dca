// Names of contenders are those of Curator (ProtectedUtils; StandardLockInternalsDriver, InterProcessReadWriteLock,
// LeaderLatch), byte for byte.
import { describe, expect, test } from 'vitest'
import { type Kind, namePrefix, parseName as parse, successorName } from '../../src/queue/names.ts'
import { candidate, exclusive, reader, writer } from '../../src/queue/roles.ts'
import { PATH, queued } from '../support/every-recipe.ts'
import { Scene } from '../support/scene.ts'

const kinds: Readonly<Record<string, Kind>> = {
  lock: exclusive.kind,
  latch: candidate.kind,
  read: reader.kind,
  write: writer.kind,
}
const parseName = (name: string) => parse(name, Object.values(kinds))

const uuid = '64a1d9f2-3c07-4f0e-9d43-0b1a7c55e2f8'

describe('namePrefix', () => {
  test.each([
    ['lock', `_c_${uuid}-lock-`],
    ['latch', `_c_${uuid}-latch-`],
    ['read', `_c_${uuid}-__READ__`],
    ['write', `_c_${uuid}-__WRIT__`],
  ] as const)("namePrefix of a %s is Curator's %s", (kind, prefix) => {
    expect(namePrefix(kinds[kind]!, uuid)).toBe(prefix)
  })
})

describe('parseName', () => {
  test.each([
    [`_c_${uuid}-lock-0000000007`, 'lock', 7],
    [`_c_${uuid}-latch-2147483647`, 'latch', 2_147_483_647],
    [`_c_${uuid}-__READ__0000000000`, 'read', 0],
    [`_c_${uuid}-__WRIT__0000012345`, 'write', 12_345],
    // %010d counts the sign.
    [`_c_${uuid}-lock--2147483648`, 'lock', -2_147_483_648],
    [`_c_${uuid}-lock--000000001`, 'lock', -1],
  ] as const)('parseName reads %s', (name, kind, sequence) => {
    expect(parseName(name)).toEqual({ name, uuid, kind: kinds[kind], sequence })
  })

  test('parseName reads the names of go-zookeeper, whose uuids have no dashes (L24)', () => {
    const name = '_c_64a1d9f23c074f0e9d430b1a7c55e2f8-lock-0000000001'
    expect(parseName(name)).toMatchObject({
      uuid: '64a1d9f23c074f0e9d430b1a7c55e2f8',
      kind: kinds['lock'],
      sequence: 1,
    })
  })

  test.each([
    ['a word', 'readme'],
    ["kazoo's lock", '64a1d9f23c074f0e9d430b1a7c55e2f8__lock__0000000001'],
    ["ZooKeeper's own WriteLock", 'x-72057594037927936-0000000001'],
    ['an unprotected lock', 'lock-0000000001'],
    ['a lease of a semaphore', `_c_${uuid}-lease-0000000001`],
    ['too few digits', `_c_${uuid}-lock-000000001`],
    ['too many digits', `_c_${uuid}-lock-00000000001`],
    ['a sign too many', `_c_${uuid}-lock--00000000001`],
    ['no counter', `_c_${uuid}-lock-`],
    ['something behind the counter', `_c_${uuid}-lock-0000000001x`],
    ['something before the prefix', `x_c_${uuid}-lock-0000000001`],
    ['no uuid', '_c_-lock-0000000001'],
    ['nothing', ''],
  ])('parseName takes %s for no contender (L24)', (_, name) => {
    expect(parseName(name)).toBeUndefined()
  })
})

describe('successorName', () => {
  test("successorName of a writer is the name of Curator's reader in its place, with a uuid that has no dashes", () => {
    const writing = parseName(`_c_${uuid}-__WRIT__0000000012`)!
    const name = `_c_${uuid.replaceAll('-', '')}-__READ__0000000012`
    expect(successorName(writing)).toEqual(parseName(name))
  })

  test('successorName is for kinds that have successors only', () => {
    expect(() => successorName(parseName(`_c_${uuid}-lock-0000000012`)!)).toThrow(TypeError)
  })
})

describe('Nodes of contenders', () => {
  test.each(queued)('$name makes a node that Curator takes for its own', async ({ make, contenders: { marker } }) => {
    const scene = new Scene()
    await scene.done(make(await scene.client()).acquire())
    const pattern = `^_c_[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}-${marker}0000000000$`
    expect(scene.children(PATH)).toEqual([expect.stringMatching(pattern)])
  })
})
