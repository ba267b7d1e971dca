// Looks up host names. (If a runtime uses our `dial` without `resolve`, `node:net` does it: see transport.ts.)
import { lookup } from 'node:dns'
import type { LookupHandler } from './runtime.ts'

/** Looks up all addresses of a host name, IPv4 and IPv6, as the system does. An IP address is its own result. */
export function resolve(host: string, handler: LookupHandler): void {
  lookup(host, { all: true }, (error, addresses) => {
    if (error === null) handler.found(addresses.map(({ address }) => address))
    else handler.failed(error)
  })
}
