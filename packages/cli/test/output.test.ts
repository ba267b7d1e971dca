import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { printLines } from '../src/command/output.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Lines after which nothing more comes. */
async function* endless(...lines: readonly string[]): AsyncGenerator<string> {
  yield* lines
  await new Promise(() => {})
}

test('printLines prints what nothing follows, and what has come during a slow print', async () => {
  let print = (): void => {}
  const printed: string[] = []
  let goOn = (): void => {}
  async function* lines() {
    yield 'a'
    await new Promise<void>((resolve) => (goOn = resolve))
    yield* endless('b', 'c')
  }
  void printLines(lines(), async (text) => {
    printed.push(text)
    await new Promise<void>((resolve) => (print = resolve))
  })
  await vi.advanceTimersByTimeAsync(1_000)
  expect(printed).toEqual(['a\n'])
  goOn()
  await vi.advanceTimersByTimeAsync(1_000)
  expect(printed).toEqual(['a\n'])
  print()
  await vi.advanceTimersByTimeAsync(1_000)
  expect(printed).toEqual(['a\n', 'b\nc\n'])
})

test('printLines rejects at once if it cannot print, whatever comes next', async () => {
  const printing = printLines(endless('a'), () => Promise.reject(new Error('full')))
  const rejected = expect(printing).rejects.toThrow('full')
  await vi.advanceTimersByTimeAsync(1_000)
  await rejected
})
