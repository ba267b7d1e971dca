// The recipes of the chaos. One more is a file like these, and a line here.
import type { Recipe } from '../recipe.ts'
import { barrier } from './barrier.ts'
import { counter } from './counter.ts'
import { doubleBarrier } from './double-barrier.ts'
import { election } from './election.ts'
import { group } from './group.ts'
import { lock } from './lock.ts'
import { mirror } from './mirror.ts'
import { multiLock } from './multi-lock.ts'
import { onceRecipe } from './once.ts'
import { semaphore } from './semaphore.ts'
import { sharedLock } from './shared-lock.ts'

export const RECIPES = [
  lock,
  sharedLock,
  election,
  semaphore,
  multiLock,
  onceRecipe,
  counter,
  group,
  mirror,
  barrier,
  doubleBarrier,
] as unknown as readonly Recipe[]
