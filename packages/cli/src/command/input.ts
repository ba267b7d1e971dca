// Standard input and files: data, and lines of JSON.
import { Buffer } from 'node:buffer'
import { createReadStream, readFileSync } from 'node:fs'
import { addAbortSignal } from 'node:stream'
import { JUTE_MAXBUFFER, printable } from '@zk/wire'
import { UsageError } from './options.ts'

/** Standard input or a file is not as it must be. */
export class InputError extends Error {
  override readonly name = 'InputError'
}

export interface Line {
  /** Where it was read, for messages. */
  readonly place: string
  readonly text: string
}

/** What a request has besides path and data: its header, the ACL of everyone. In bytes. */
const REST_OF_REQUEST = 80

/** A value of the command line: the text itself, - for standard input, or @FILE. Throws an InputError, or a UsageError. */
export function dataOf(word: string): Uint8Array {
  if (word !== '-' && !word.startsWith('@')) return new TextEncoder().encode(word)
  const data = contentOf(word === '-' ? '-' : word.slice(1))
  // Most likely the program that writes it has failed.
  if (word === '-' && data.length === 0) throw new InputError("standard input is empty: '' means empty data")
  return data
}

/** Throws an InputError if servers with the default limit refuse the data. */
export function checkSize(path: string, data: Uint8Array): void {
  const size = data.length + Buffer.byteLength(path) + REST_OF_REQUEST
  if (size <= JUTE_MAXBUFFER) return
  throw new InputError(
    `${printable(path)} would have ${data.length} bytes: servers take requests of up to ${JUTE_MAXBUFFER} (jute.maxbuffer)`,
  )
}

function contentOf(file: string): Uint8Array {
  try {
    return readFileSync(file === '-' ? 0 : file)
  } catch (error) {
    throw unreadable(file, error)
  }
}

/** A named file that cannot be read is wrong usage. */
function unreadable(file: string, error: unknown): Error {
  const message = `${nameOf(file)} cannot be read: ${(error as Error).message}`
  return file === '-' ? new InputError(message) : new UsageError(message)
}

/**
 * The lines of a file, or of standard input for `-`, as they come. Empty lines are left out. Throws an InputError, a UsageError if the
 * file cannot be read, and an AbortError when the signal aborts.
 */
export async function* linesOf(file: string, signal?: AbortSignal): AsyncGenerator<Line> {
  const name = nameOf(file)
  const input = file === '-' ? process.stdin : createReadStream(file)
  if (signal !== undefined) addAbortSignal(signal, input)
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const decoded = (chunk?: Uint8Array): string => {
    try {
      return decoder.decode(chunk, { stream: chunk !== undefined })
    } catch {
      throw new InputError(`${name}: line ${number + 1} or one of the next is no UTF-8`)
    }
  }
  let number = 0
  let rest = ''
  try {
    for await (const chunk of input as AsyncIterable<Uint8Array>) {
      const lines = `${rest}${decoded(chunk)}`.split('\n')
      rest = lines.pop()!
      for (const text of lines) {
        number++
        if (text.trim() !== '') yield { place: `${name}: line ${number}`, text }
      }
    }
    rest += decoded()
    if (rest.trim() !== '') yield { place: `${name}: line ${number + 1}`, text: rest }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error
    throw unreadable(file, error)
  } finally {
    input.destroy()
  }
}

export type Fields = Readonly<Record<string, unknown>>

/** Throws an InputError unless the line is a JSON object. */
export function objectIn({ place, text }: Line): Fields {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    // The message may repeat what the line has.
    throw new InputError(`${place} is no JSON: ${printable((error as Error).message)}`)
  }
  if (isObject(value)) return value
  throw new InputError(`${place} is no JSON object`)
}

export function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The bytes that `text` or `base64` have; undefined if there is neither. Throws an InputError. */
export function bytesIn({ text, base64 }: Fields, place: string): Uint8Array | undefined {
  if (text !== undefined && base64 !== undefined) throw new InputError(`${place} has both text and base64`)
  if (text === undefined && base64 === undefined) return undefined
  // Half of a surrogate pair has no UTF-8.
  if (typeof text === 'string' && !/\p{Surrogate}/u.test(text)) return new TextEncoder().encode(text)
  if (typeof base64 === 'string' && /^[A-Za-z0-9+/]*={0,2}$/.test(base64) && base64.length % 4 === 0) {
    return Buffer.from(base64, 'base64')
  }
  throw new InputError(`${place}: text must be a string of whole characters, or base64 valid base64`)
}

function nameOf(file: string): string {
  return file === '-' ? 'standard input' : printable(file)
}
