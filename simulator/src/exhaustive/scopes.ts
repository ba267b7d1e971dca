// The scopes that are searched, by name: each contest in each setting.
import { type TaskRecipe, taskRecipes } from '../scenario/scenario.ts'
import { type Faults, faultTypes, type FaultType, type Scope } from './scope.ts'

type Contest = Pick<Scope, 'name' | 'recipe' | 'clients' | 'permits' | 'counts' | 'locks'>
type Setting = Pick<Scope, 'name' | 'faults' | 'earlyTimers' | 'hasParent' | 'keepsSegments'>

const contestsOf: Readonly<Record<TaskRecipe, readonly Omit<Contest, 'recipe'>[]>> = {
  Lock: [{ name: 'Lock', clients: ['exclusive', 'exclusive'] }],
  SharedLock: [
    { name: 'SharedLock read/write', clients: ['read', 'write'] },
    { name: 'SharedLock write/write', clients: ['write', 'write'] },
  ],
  LeaderElection: [{ name: 'LeaderElection', clients: ['exclusive', 'exclusive'] }],
  Semaphore: [
    { name: 'Semaphore of 1', clients: ['permits', 'permits'], permits: 1 },
    { name: 'Semaphore of 2, both and one', clients: ['permits', 'permits'], permits: 2, counts: [2, 1] },
    { name: 'Semaphore of 2, three clients', clients: ['permits', 'permits', 'permits'], permits: 2 },
  ],
  MultiLock: [
    {
      name: 'MultiLock of 2',
      clients: ['locks', 'locks'],
      locks: [
        ['a', 'b'],
        ['b', 'a'],
      ],
    },
    { name: 'MultiLock of 2 and a Lock', clients: ['locks', 'locks'], locks: [['a', 'b'], ['b']] },
  ],
}
const contests = taskRecipes.flatMap((recipe) => contestsOf[recipe].map((contest) => ({ recipe, ...contest })))

const base = { faults: upTo(0), earlyTimers: 0, hasParent: true, keepsSegments: true }

const settings: readonly Setting[] = [
  { ...base, name: 'no faults' },
  { ...base, name: 'no faults, frames apart', keepsSegments: false },
  { ...base, name: 'no faults, no parent', hasParent: false },
  { ...base, name: 'no faults, 2 early timers', earlyTimers: 2 },
  { ...base, name: '1 fault', faults: upTo(1) },
  { ...base, name: '1 fault, frames apart', faults: upTo(1), keepsSegments: false },
  { ...base, name: '1 fault, 1 early timer', faults: upTo(1), earlyTimers: 1 },
  ...pairs().map(([one, other]) => ({
    ...base,
    name: `2 faults, ${one} or ${other}`,
    faults: { most: 2, types: [one, other] },
  })),
]

export const scopes: readonly Scope[] = settings.flatMap((setting) =>
  contests.map((contest) => ({ ...contest, ...setting, name: `${contest.name}: ${setting.name}` })),
)

/** Throws when there is no scope of this name. */
export function scopeNamed(name: string): Scope {
  const scope = scopes.find((each) => each.name === name)
  if (scope === undefined) throw new Error(`no scope is named ${name}`)
  return scope
}

/** A history with two faults has two types of faults at most. So these scopes together cover all. */
function pairs(): [FaultType, FaultType][] {
  return faultTypes.flatMap((one, index) =>
    faultTypes.slice(index + 1).map((other): [FaultType, FaultType] => [one, other]),
  )
}

function upTo(most: number): Faults {
  return { most, types: faultTypes }
}
