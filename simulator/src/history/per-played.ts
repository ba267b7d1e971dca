import type { Played } from './played.ts'

/** The function, computed once for each history: several checks need its result. */
export function perPlayed<Result>(compute: (played: Played) => Result): (played: Played) => Result {
  const known = new WeakMap<Played, { readonly result: Result }>()
  return (played) => {
    const found = known.get(played) ?? { result: compute(played) }
    known.set(played, found)
    return found.result
  }
}
