// Contenders of the permits of a semaphore: one of four turns is with two.
import { Semaphore } from '@zk/recipes'
import { readSettings } from './settings.ts'
import { takeTurns } from './take-turns.ts'

const settings = readSettings()
await takeTurns(settings, (zk) => {
  const semaphore = new Semaphore(zk, settings.path, { permits: settings.permits, label: settings.name })
  return () => {
    const count = Math.random() < 0.75 ? 1 : 2
    return { mode: 'exclusive', acquirable: { acquire: () => semaphore.acquire({ count }) } }
  }
})
