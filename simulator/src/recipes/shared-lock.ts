import { SharedLock } from '@zk/recipes'
import { checksOfHolds } from '../checks/lists.ts'
import { PATH } from '../play/paths.ts'
import { locked, ofHolders } from './holders/index.ts'

export const sharedLock = ofHolders({
  isDrawn: true,
  kinds: ['read', 'write'],
  ways: locked,
  acquirable(zk, { kind, holdOptions, label = 0 }) {
    const lock = new SharedLock(zk, PATH, { ...holdOptions, label: 'x'.repeat(label) })
    return kind === 'read' ? lock.read : lock.write
  },
  paths: [PATH],
  checks: checksOfHolds,
})
