// Looks up host names. (If a runtime uses our `dial` without `resolve`, `node:net` does it: see transport.ts.)
import { lookup } from 'node:dns'
import type { LookupHandler } from './runtime.ts'

/** Looks up all addresses of a host name, IPv4 and IPv6, as the system does. An IP address is its own result. */
export function resolve(host: string, handler: LookupHandler): void {
  // Programs and their tests replace `lookup`, and not all replacements know `all`, or give null for no error.
  lookup(host, { all: true }, (error: unknown, answer: unknown) => {
    if (error)
      return handler.failed(
        error instanceof Error ? error : new Error(typeof error === 'string' ? error : 'the look-up failed'),
      )
    const addresses: unknown[] = Array.isArray(answer) ? answer : [answer]
    handler.found(addresses.map(addressIn) as string[])
  })
}

function addressIn(answer: unknown): unknown {
  return typeof answer === 'object' && answer !== null && 'address' in answer ? answer.address : answer
}
