import type { DialTarget, LookupHandler } from '../../src/index.ts'
import { VirtualWorld } from './virtual-world.ts'

/** A world with a name server. */
export class NamedWorld extends VirtualWorld {
  /** What each name has; an error is what a look-up fails with. */
  readonly names = new Map<string, readonly string[] | Error>()
  readonly lookups: string[] = []

  override resolve(host: string, handler: LookupHandler): void {
    this.lookups.push(host)
    const found = this.names.get(host) ?? new Error(`getaddrinfo ENOTFOUND ${host}`)
    this.arrive(() => (found instanceof Error ? handler.failed(found) : handler.found(found)))
  }

  override dial(target: DialTarget, handler: Parameters<VirtualWorld['dial']>[1]) {
    return super.dial({ host: target.address ?? target.host, port: target.port }, handler)
  }
}
