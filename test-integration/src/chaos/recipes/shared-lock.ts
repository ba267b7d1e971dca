import { type Held, SharedLock, type WriteHeld } from '@zk/recipes'
import type { Entry } from '../../history/index.ts'
import { Holder, judgeHolds, reasonOf } from '../holds.ts'
import type { Recipe } from '../recipe.ts'

export const sharedLock: Recipe<Entry> = {
  name: 'shared',
  weakAfter: 'held',
  keeps: [''],
  contenders(stage, log) {
    const { zk, path, process: label } = stage
    const { read, write } = new SharedLock(zk, path, { label })
    const takeTurn = async (contender: string) => {
      const holder = new Holder(stage, log, contender)
      if (Math.random() < 0.6) return await holder.takeTurn('shared', read)
      if (Math.random() < 0.7) return await holder.takeTurn('exclusive', write)
      await goOnReading(holder, await holder.acquire('exclusive', write))
    }
    return { one: takeTurn, other: takeTurn }
  },
  judge: (entries) => judgeHolds(entries),
}

/** Holds as a writer, then as a reader. */
async function goOnReading(holder: Holder, writing: WriteHeld): Promise<void> {
  await holder.ask('exclusive', writing)
  let reading: Held
  try {
    reading = await writing.downgrade()
  } catch (error) {
    // The lock was lost before the downgrade or during it.
    holder.ended('exclusive', writing, reasonOf(error))
    await writing.release().catch(() => {})
    return
  }
  holder.ended('exclusive', writing)
  await holder.hold('shared', reading)
}
