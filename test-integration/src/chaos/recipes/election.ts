import { LeaderElection } from '@zk/recipes'
import type { Entry } from '../../history/index.ts'
import { Holder, judgeHolds } from '../holds.ts'
import type { Recipe } from '../recipe.ts'

export const election: Recipe<Entry> = {
  name: 'election',
  weakAfter: 'held',
  keeps: [''],
  contenders(stage, log) {
    const { zk, path, process: data } = stage
    const election = new LeaderElection(zk, path, { label: data })
    const campaign = { acquire: () => election.campaign() }
    return { candidate: (contender) => new Holder(stage, log, contender).takeTurn('exclusive', campaign) }
  },
  judge: (entries) => judgeHolds(entries),
}
