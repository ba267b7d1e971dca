// What zk itself writes. Not by `process.stdout` and `process.stderr`: they make a pipe that the command inherits non-blocking,
// and the command would not expect that.
import { write, writeSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { isatty } from 'node:tty'
import { promisify } from 'node:util'

/** How many characters of lines are collected before they are written. */
const CHUNK = 65_536
/** How long a line waits for others, in ms. */
const LONGEST_WAIT = 200

/** Standard output cannot be written. */
export class OutputError extends Error {
  override readonly name = 'OutputError'
  /** Whether the reader has gone away, as `head` does: that is no failure. */
  readonly isReaderGone: boolean

  constructor({ code, message }: NodeJS.ErrnoException) {
    super(`standard output cannot be written: ${message}`)
    this.isReaderGone = code === 'EPIPE'
  }
}

/** Data, on standard output. Throws an OutputError. */
export function print(data: string | Uint8Array): void {
  const bytes = typeof data === 'string' ? new TextEncoder().encode(data) : data
  try {
    for (let written = 0; written < bytes.length;) written += writeSome(bytes, written)
  } catch (error) {
    throw new OutputError(error as NodeJS.ErrnoException)
  }
}

/** In ms: after so long a pipe that another process has made non-blocking, and that was full, is tried again. */
const PAUSE = 5
const nobody = new Int32Array(new SharedArrayBuffer(4))

function writeSome(bytes: Uint8Array, from: number): number {
  for (;;) {
    try {
      return writeSync(1, bytes, from)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error
      Atomics.wait(nobody, 0, 0, PAUSE)
    }
  }
}

const writeLater = promisify(write)

/** Like `print`, but a reader that is slow, as `less` is, does not keep zk from renewing its session. */
async function printLater(text: string): Promise<void> {
  const bytes = new TextEncoder().encode(text)
  for (let written = 0; written < bytes.length;) {
    try {
      written += (await writeLater(1, bytes, written)).bytesWritten
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw new OutputError(error as NodeJS.ErrnoException)
      await pause(PAUSE)
    }
  }
}

/** Lines of data, as they come: on a terminal at once, otherwise many together. */
export async function printLines(lines: AsyncIterable<string>, printText = printLater): Promise<void> {
  const most = isatty(1) ? 0 : CHUNK
  let text = ''
  let timer: ReturnType<typeof setTimeout> | undefined
  let printing = Promise.resolve()
  const flush = async (): Promise<void> => {
    clearTimeout(timer)
    const ready = text
    text = ''
    printing = printing.then(() => printText(ready))
    await printing
    // Not before: while the reader is slow, lines are collected up to a chunk.
    timer = undefined
    if (text !== '') flushSoon()
  }
  const flushSoon = (): void => {
    timer ??= setTimeout(() => void flush().catch((error) => fail(error)), LONGEST_WAIT)
  }
  const iterator = lines[Symbol.asyncIterator]()
  let fail: (error: unknown) => void
  const next = (): Promise<IteratorResult<string, unknown>> =>
    new Promise((resolve, reject) => {
      fail = reject
      iterator.next().then(resolve, reject)
    })
  try {
    for (let line = await next(); line.done !== true; line = await next()) {
      text += `${line.value}\n`
      // The next line may be long in coming.
      if (text.length < most) flushSoon()
      else await flush()
    }
  } finally {
    // Not awaited: if the output cannot be written, it may be waiting for its next line.
    iterator.return?.().catch(() => {})
    await flush()
  }
}

/** Lines that say what has been done. If the reader of standard output goes away, the rest is done all the same. */
export function printChanges(lines: AsyncIterable<string>): Promise<void> {
  return printLines(lines, async (text) => {
    try {
      await printLater(text)
    } catch (error) {
      if (!(error instanceof OutputError && error.isReaderGone)) throw error
    }
  })
}

/** A line of `--json`. */
export function jsonLine(document: Readonly<Record<string, unknown>>): string {
  return JSON.stringify({ version: 1, ...document })
}

/** A document of `--json`, on a line of its own. */
export function printJson(document: Readonly<Record<string, unknown>>): void {
  print(`${jsonLine(document)}\n`)
}

/** Words, on standard error. */
export function say(text: string): void {
  try {
    writeSync(2, `zk: ${text}\n`)
  } catch {
    // Nobody reads it any more.
  }
}
