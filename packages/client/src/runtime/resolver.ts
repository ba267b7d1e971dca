// Looks names up. No other file does.
import { lookup } from 'node:dns'
import type { LookupHandler } from './runtime.ts'

/** All addresses of a host name, of both families, as the system's resolver knows them. An IP address yields itself. */
export function resolve(host: string, handler: LookupHandler): void {
  lookup(host, { all: true }, (error, addresses) => {
    if (error === null) handler.found(addresses.map(({ address }) => address))
    else handler.failed(error)
  })
}
