// Leaves out what a program does not need to show a difference. Its atoms are numbered: each step that is no call, each call, and
// in place of a call with several parts each of its parts.
import type { Call, Program, Step } from './program.ts'

/** A program from which some atoms were left out. */
export interface Selection {
  readonly program: Program
  /** The numbers of its atoms, in order. */
  readonly atoms: readonly number[]
  /** For each of them, the index of its step in the program. */
  readonly steps: readonly number[]
}

/** The program with these atoms only. A call without parts, and a step without calls, are left out. */
export function select(program: Program, isKept: (atom: number) => boolean = () => true): Selection {
  const steps: Step[] = []
  const atoms: number[] = []
  const stepsOfAtoms: number[] = []
  let next = 0
  const keeps = (): boolean => {
    const atom = next++
    if (!isKept(atom)) return false
    atoms.push(atom)
    stepsOfAtoms.push(steps.length)
    return true
  }
  const some = <Item>(items: readonly Item[] | null): readonly Item[] => (items ?? []).filter(keeps)
  for (const step of program) {
    if (step.do === 'call') {
      const calls = step.calls.flatMap((call) => reduced(call, some, keeps))
      if (calls.length > 0) steps.push({ ...step, calls })
    } else if (keeps()) steps.push(step)
  }
  return { program: steps, atoms, steps: stepsOfAtoms }
}

type Some = <Item>(items: readonly Item[] | null) => readonly Item[]

function reduced(call: Call, some: Some, keeps: () => boolean): readonly Call[] {
  if ((call.op === 'multi' || call.op === 'multiRead') && call.request.length > 0) {
    const request = some(call.request)
    return request.length > 0 ? [{ ...call, request }] : []
  }
  if (call.op === 'setWatches' || call.op === 'setWatches2') {
    const all = Object.entries(call.lists)
    const kept = all.map(([name, paths]) => [name, some(paths)] as const)
    if (kept.some(([, paths]) => paths.length > 0)) {
      return [{ ...call, lists: Object.fromEntries(kept) } as unknown as Call]
    }
    if (all.some(([, paths]) => paths !== null && paths.length > 0)) return []
  }
  return keeps() ? [call] : []
}

/**
 * Returns as few atoms as it finds. `tried` plays the program with some atoms: it returns those up to the difference, or undefined
 * if there is none. First it leaves out long series of atoms, and in the end single ones.
 */
export async function shorten(
  atoms: readonly number[],
  tried: (atoms: readonly number[]) => Promise<readonly number[] | undefined>,
  isOver: () => boolean,
): Promise<readonly number[]> {
  let kept = atoms
  for (let size = kept.length >> 1; size > 0;) {
    let hasChanged = false
    for (let start = 0; start < kept.length && !isOver();) {
      const fewer = kept.toSpliced(start, size)
      const shown = fewer.length === 0 ? undefined : await tried(fewer)
      if (shown === undefined) start += size
      else {
        kept = shown
        hasChanged = true
      }
    }
    // What was necessary may not be so without what was left out since.
    if (isOver() || (size === 1 && !hasChanged)) return kept
    size = Math.max(1, Math.min(size, kept.length) >> 1)
  }
  return kept
}

/** `0-2,17`: numbers in ascending order. */
export function formatAtoms(atoms: readonly number[]): string {
  const ranges: [first: number, last: number][] = []
  for (const atom of atoms) {
    const range = ranges.at(-1)
    if (range !== undefined && range[1] === atom - 1) range[1] = atom
    else ranges.push([atom, atom])
  }
  return ranges.map(([first, last]) => (first === last ? String(first) : `${first}-${last}`)).join(',')
}

/** The numbers of `0-2,17`; undefined if the text has another form. */
export function parseAtoms(text: string): ReadonlySet<number> | undefined {
  if (!/^\d{1,6}(?:-\d{1,6})?(?:,\d{1,6}(?:-\d{1,6})?)*$/.test(text)) return undefined
  const atoms = new Set<number>()
  for (const range of text.split(',')) {
    const [first = 0, last = first] = range.split('-').map(Number)
    for (let atom = first; atom <= last; atom++) atoms.add(atom)
  }
  return atoms
}
