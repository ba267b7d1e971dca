// The node in which a server stores the configuration of its ensemble.
import type { Txn } from '../server/txn.ts'
import type { DataTree } from './data-tree.ts'
import { CONFIG_NODE, formatConfig, parseConfig, type QuorumConfig } from './quorum-config.ts'

/** The configuration; empty on a standalone server, and on a server that has never served. */
export function configIn(tree: DataTree): QuorumConfig {
  return parseConfig(new TextDecoder().decode(tree.get(CONFIG_NODE)?.data ?? undefined))
}

/** The configuration that a reconfiguration writes; undefined for other transactions, even if they change the node. */
export function configOf(txn: Txn): QuorumConfig | undefined {
  if (txn.type !== 'setData' || txn.isReconfig === undefined) return undefined
  return parseConfig(new TextDecoder().decode(txn.data ?? undefined))
}

/** Writes the configuration when a server begins to serve (initConfigInZKDatabase). `time` is in ms since the epoch. */
export function writeConfig(tree: DataTree, config: QuorumConfig, time: number): void {
  tree.setConfig(new TextEncoder().encode(formatConfig(config)), config.version, time)
}
