import { Lock } from '@zk/recipes'
import { checksOfHolds, checksOfOneHolder } from '../checks/lists.ts'
import { PATH } from '../play/paths.ts'
import { locked, ofHolders } from './holders/index.ts'

export const lock = ofHolders({
  isDrawn: true,
  kinds: ['exclusive'],
  ways: locked,
  acquirable: (zk, { holdOptions, label = 0 }) => new Lock(zk, PATH, { ...holdOptions, label: 'x'.repeat(label) }),
  paths: [PATH],
  checks: [...checksOfHolds, ...checksOfOneHolder],
})
