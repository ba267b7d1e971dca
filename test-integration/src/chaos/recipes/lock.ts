import { Lock } from '@zk/recipes'
import type { Entry } from '../../history/index.ts'
import { Holder, judgeHolds } from '../holds.ts'
import type { Recipe } from '../recipe.ts'

export const lock: Recipe<Entry> = {
  name: 'lock',
  weakAfter: 'held',
  keeps: [''],
  contenders(stage, log) {
    const { zk, path, process: label } = stage
    const lock = new Lock(zk, path, { label })
    const takeTurn = (contender: string) => new Holder(stage, log, contender).takeTurn('exclusive', lock)
    return { one: takeTurn, other: takeTurn }
  },
  judge: (entries) => judgeHolds(entries),
}
