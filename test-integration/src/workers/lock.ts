// Contenders of an exclusive lock.
import { Lock } from '@zk/recipes'
import { readSettings } from './settings.ts'
import { takeTurns } from './take-turns.ts'

const settings = readSettings()
await takeTurns(settings, (zk) => {
  const lock = new Lock(zk, settings.path, { label: settings.name })
  return () => ({ mode: 'exclusive', acquirable: lock })
})
