// Several locks at once, in different orders of their paths, beside a plain lock. All take /b, so all exclude each other.
import { Lock, MultiLock } from '@zk/recipes'
import type { Entry } from '../../history/index.ts'
import { Holder, judgeHolds } from '../holds.ts'
import type { Recipe } from '../recipe.ts'

const ORDERS = [
  ['/a', '/b'],
  ['/b', '/a', '/c'],
  ['/c', '/b'],
] as const

export const multiLock: Recipe<Entry> = {
  name: 'multi',
  weakAfter: 'held',
  keeps: ['', '/a', '/b', '/c'],
  contenders(stage, log) {
    const { zk, path, process: label } = stage
    const options = { label }
    const locks = [
      ...ORDERS.map(
        (names) =>
          new MultiLock(
            zk,
            names.map((name) => path + name),
            options,
          ),
      ),
      new Lock(zk, `${path}/b`, options),
    ]
    const takeTurn = async (contender: string) => {
      const lock = locks[Math.floor(Math.random() * locks.length)]!
      await new Holder(stage, log, contender).takeTurn('exclusive', lock)
    }
    return { one: takeTurn, other: takeTurn }
  },
  judge: (entries) => judgeHolds(entries),
}
