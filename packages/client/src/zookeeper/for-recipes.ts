// What recipes need from a client besides its public methods. These are methods of the object, and their names are known to all
// copies of this package: the recipes of one copy also work with a client of another.
import type { CallOptions } from '../operations/call-options.ts'
import type { NameList } from '../operations/name-list.ts'
import type { LogLevel } from '../telemetry/logger.ts'
import type { EventSink, WatchOptions } from './node-events.ts'

export const logWithKey = Symbol.for('@zk/ZooKeeper.logWith')
export const getChildNamesKey = Symbol.for('@zk/ZooKeeper.getChildNames')
export const watchIntoKey = Symbol.for('@zk/ZooKeeper.watchInto')

export type WatchIntoOptions = Pick<WatchOptions, 'recursive'> & CallOptions

/** A watch whose events go to a sink. */
export interface WatchInto {
  /** Settles as `watch` does. */
  readonly opened: Promise<unknown>
  /** Removes the watch locally. The watch on the server is removed with the next requests. */
  readonly stop: () => void
}

/** A `ZooKeeper`, of this copy of the package or another. Its declaration does not show these methods. */
interface ForRecipes {
  [logWithKey](level: LogLevel, message: string, fields: () => object): void
  [getChildNamesKey](path: string, options: CallOptions): Promise<NameList>
  [watchIntoKey](path: string, options: WatchIntoOptions, sink: EventSink): WatchInto
}

/** Logs like the client itself, with its session and its server. */
export function logWith(zk: object, level: LogLevel, message: string, fields: () => object): void {
  ;(zk as ForRecipes)[logWithKey](level, message, fields)
}

/** Like `getChildren`, but makes no string for each name. */
export function getChildNames(zk: object, path: string, options: CallOptions): Promise<NameList> {
  return (zk as ForRecipes)[getChildNamesKey](path, options)
}

/** Like `watch`, but the events go to a sink, which gets each before a reply that shows its change settles. */
export function watchInto(zk: object, path: string, options: WatchIntoOptions, sink: EventSink): WatchInto {
  return (zk as ForRecipes)[watchIntoKey](path, options, sink)
}
