import type { Program, Step } from './program.ts'

/**
 * Shortens a program that fails: leaves out smaller and smaller parts as long as the rest still fails (delta debugging).
 * Stops after `time` ms.
 */
export async function shrink(
  program: Program,
  fails: (program: Program) => Promise<boolean>,
  time: number,
): Promise<Program> {
  const deadline = performance.now() + time
  const isLate = (): boolean => performance.now() > deadline
  const steps = await without(program, fails, isLate)
  const shortened: Step[] = [...steps]
  for (const [i, step] of steps.entries()) {
    if (step.do !== 'call') continue
    const fewer = (calls: typeof step.calls): Program => shortened.with(i, { ...step, calls })
    const calls = await without(step.calls, (calls) => fails(fewer(calls)), isLate)
    shortened[i] = { ...step, calls }
  }
  return shortened
}

async function without<T>(
  whole: readonly T[],
  fails: (items: readonly T[]) => Promise<boolean>,
  isLate: () => boolean,
): Promise<readonly T[]> {
  let items = whole
  for (let size = Math.ceil(items.length / 2); size >= 1; size = Math.floor(size / 2)) {
    for (let at = items.length - size; at > -size; at -= size) {
      const rest = [...items.slice(0, Math.max(at, 0)), ...items.slice(at + size)]
      if (isLate()) return items
      if (rest.length > 0 && (await fails(rest))) items = rest
    }
  }
  return items
}
