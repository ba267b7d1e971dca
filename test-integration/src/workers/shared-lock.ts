// Contenders of a shared lock: three of four turns are reads.
import { SharedLock } from '@zk/recipes'
import { readSettings } from './settings.ts'
import { takeTurns } from './take-turns.ts'

const settings = readSettings()
await takeTurns(settings, (zk) => {
  const { read, write } = new SharedLock(zk, settings.path, { label: settings.name })
  return () => (Math.random() < 0.75 ? { mode: 'shared', acquirable: read } : { mode: 'exclusive', acquirable: write })
})
