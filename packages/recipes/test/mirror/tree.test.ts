// The memory of a mirror beside a plain Map: whatever is added, written and removed, it gives back what was put in.
import { describe, expect, test } from 'vitest'
import { Random } from '@zk/testing/internal'
import { Tree } from '../../src/mirror/tree.ts'

interface Kept {
  readonly stat: Parameters<Tree['add']>[1]
  readonly data: Uint8Array | undefined
  readonly pzxid: bigint
}

describe('Tree', () => {
  test.each([1, 2, 3])('Tree gives back every number and all data, in any order of changes (seed %i)', (seed) => {
    const random = new Random(seed, 'tree')
    const below = (limit: number) => Math.floor(random.next() * limit)
    const tree = new Tree('/a')
    const model = new Map<string, Kept>()
    let zxid = 1n
    const content = (czxid = ++zxid): Omit<Kept, 'pzxid'> => {
      const isNew = below(3) > 0
      const data = below(10) === 0 ? undefined : new Uint8Array(below(40)).fill(below(256))
      const time = 1_700_000_000_000 + Number(czxid)
      return {
        data,
        stat: {
          czxid,
          mzxid: isNew ? czxid : ++zxid,
          ctime: time,
          mtime: isNew ? time : time + below(1_000),
          version: isNew ? 0 : below(1_000_000) - 1,
          ephemeralOwner: below(5) === 0 ? -5n - zxid : 0n,
          dataLength: data?.length ?? below(100),
        },
      }
    }
    tree.add('/a', content().stat, new Uint8Array())
    for (let step = 0; step < 3_000; step++) {
      const path = `/a/${below(700)}`
      const kept = model.get(path)
      const id = tree.find(path)
      expect(id !== undefined).toBe(kept !== undefined)
      if (kept === undefined) {
        const { stat, data } = content()
        tree.add(path, stat, data)
        model.set(path, { stat, data, pzxid: -1n })
      } else if (below(3) === 0) {
        tree.remove(id!)
        model.delete(path)
      } else if (below(2) === 0) {
        const isSame = below(3) > 0
        const { stat, data } = content(isSame ? kept.stat.czxid : undefined)
        tree.update(id!, stat, data)
        model.set(path, { stat, data, pzxid: isSame && data !== undefined ? kept.pzxid : -1n })
      } else {
        const pzxid = [kept.stat.czxid, ++zxid, -1n][below(3)]!
        tree.setPzxid(id!, pzxid)
        model.set(path, { ...kept, pzxid })
      }
    }
    expect(tree.size).toBe(model.size + 1)
    for (const [path, { stat, data, pzxid }] of model) {
      const id = tree.find(path)!
      const node = tree.node(id)
      expect([node.path, node.data, tree.pzxid(id)]).toEqual([path, data, pzxid])
      expect(node.stat).toEqual({ ...stat, dataLength: data?.length ?? stat.dataLength })
    }
  })
})
