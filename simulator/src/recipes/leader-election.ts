import { LeaderElection } from '@zk/recipes'
import { checksOfHolds, checksOfOneHolder } from '../checks/lists.ts'
import { PATH } from '../play/paths.ts'
import { ofHolders } from './holders/index.ts'

export const leaderElection = ofHolders({
  isDrawn: true,
  kinds: ['exclusive'],
  ways: ['acquire', 'terms'],
  acquirable(zk, { holdOptions, label = 0 }) {
    const election = new LeaderElection(zk, PATH, { ...holdOptions, label: 'x'.repeat(label) })
    return {
      acquire: (options) => election.campaign(options),
      terms: (options) => election.terms(options),
    }
  },
  paths: [PATH],
  checks: [...checksOfHolds, ...checksOfOneHolder],
})
