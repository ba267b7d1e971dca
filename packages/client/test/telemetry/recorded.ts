// What channels publish while a test runs.
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { onTestFinished } from 'vitest'

/** Messages of these channels from now to the end of the test, as they were when they came. */
export function recorded(...names: string[]): { name: string; message: Record<string, unknown> }[] {
  const messages: { name: string; message: Record<string, unknown> }[] = []
  for (const name of names) {
    const note = (message: unknown) => void messages.push({ name, message: { ...(message as object) } })
    subscribe(name, note)
    onTestFinished(() => void unsubscribe(name, note))
  }
  return messages
}
