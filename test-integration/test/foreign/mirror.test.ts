// A mirror beside Curator's CuratorCache of the same tree, while servers are killed under the client of the mirror.
import { isDeepStrictEqual } from 'node:util'
import { connect, Mirror, type MirrorChange, type MirroredNode } from '@zk/recipes'
import { expect, test } from 'vitest'
import { until } from '../../src/ensemble/index.ts'
import { ToldTree } from '../../src/history/index.ts'
import { connected, describeForeign, type Tests, type World } from './world.ts'

const FOLDERS = 20
const NODES = 3_000
/** Nodes that are written, deleted and made, each: 1 % of all. */
const PART = NODES / 100
/** The server of the mirror's client is killed after so many changes. */
const KILL_AFTER = PART

type Content = Record<string, string>

const anywhere: Tests<World> = (world) => {
  test('Mirror tells each difference once, and ends with the tree of CuratorCache, although its server is killed', async () => {
    const { servers, root, zk, curator } = await world()
    const folders = Array.from({ length: FOLDERS }, (_, folder) => `${root}/tree/folder-${folder}`)
    const paths = Array.from({ length: NODES }, (_, node) => `${folders[node % FOLDERS]}/node-${node}`)
    const tree = `${root}/tree`
    await using writer = await connect(servers.connectString)
    await using own = await connect(servers.connectString)
    await zk.create('/tree', 'top')
    await Promise.all(folders.map((path) => writer.create(path, 'folder')))
    await Promise.all(paths.map((path) => writer.create(path, 'before')))
    const expected: Content = Object.fromEntries([
      [tree, 'top'],
      ...folders.map((path) => [path, 'folder']),
      ...paths.map((path) => [path, 'before']),
    ])

    const theirs = await curator({ root: '' })
    await theirs.call('openCaches', tree)
    await using mirror = await new Mirror(own, tree).open()
    await mirror.synced({ timeout: 30_000 })
    expect(contentOf(mirror.entries())).toEqual(expected)
    const told: MirrorChange[] = []
    const changes = mirror.watchChanges()
    const reading = (async () => {
      for await (const change of changes) told.push(change)
    })()
    await until('the content to be told', () => Promise.resolve(told.some(({ type }) => type === 'Ready')))
    const initial = told.findIndex(({ type }) => type === 'Ready')
    expect(initial).toBe(NODES + FOLDERS + 1)

    // Each node is changed once, so one change of it is told.
    const written = paths.slice(0, PART)
    const deleted = paths.slice(PART, 2 * PART)
    const made = Array.from({ length: PART }, (_, node) => `${folders[node % FOLDERS]}/new-${node}`)
    const killed = own.session.connection!.server
    for (let change = 0; change < 3 * PART; change++) {
      const index = Math.floor(change / 3)
      if (change % 3 === 0) {
        await connected(() => writer.setData(written[index]!, 'after'))
        expected[written[index]!] = 'after'
      } else if (change % 3 === 1) {
        await connected(() => writer.delete(deleted[index]!).catch(unlessDone('NoNode')))
        delete expected[deleted[index]!]
      } else {
        await connected(() => writer.create(made[index]!, 'new').catch(unlessDone('NodeExists')))
        expected[made[index]!] = 'new'
      }
      if (change === KILL_AFTER) await servers.kill(killed)
    }
    await mirror.synced({ timeout: 60_000 })
    expect(own.session.connection!.server).not.toBe(killed)
    expect(contentOf(mirror.entries())).toEqual(expected)
    await until('the last change to be told', async () => isDeepStrictEqual(replayed(told, tree).content, expected))
    await changes.return()
    await reading

    const { content, mistakes } = replayed(told, tree)
    expect(mistakes).toEqual([])
    expect(content).toEqual(expected)
    const after = told.slice(initial + 1)
    const pathsOf = (type: MirrorChange['type']) =>
      after.flatMap((change) => (change.type === type && change.type !== 'Ready' ? [change.path] : [])).sort()
    expect(pathsOf('Removed')).toEqual([...deleted].sort())
    expect(pathsOf('Added')).toEqual([...made].sort())
    // A write whose reply was lost is made again.
    expect([...new Set(pathsOf('Changed'))]).toEqual([...written].sort())

    await until('CuratorCache to have the same', async () =>
      isDeepStrictEqual(await theirs.call<Content>('cached', tree), expected),
    )
  })
}

/** A request whose reply was lost is sent again, and may have been executed. */
function unlessDone(code: string): (error: unknown) => void {
  return (error) => {
    if ((error as { readonly code?: string }).code !== code) throw error
  }
}

function contentOf(nodes: Iterable<MirroredNode>): Content {
  return Object.fromEntries(Array.from(nodes, ({ path, text }) => [path, text!]))
}

/** What the changes have told, and those that did not fit to what was told before. */
function replayed(
  told: readonly MirrorChange[],
  root: string,
): { readonly content: Content; readonly mistakes: readonly string[] } {
  const tree = new ToldTree(root)
  for (const change of told) if (change.type !== 'Ready') tree.add(change)
  return { content: contentOf(tree.nodes.values()), mistakes: tree.mistakes }
}

describeForeign('Mirror beside Curator', 'real servers', { anywhere })
