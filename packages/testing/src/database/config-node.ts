// The node in which a server keeps what it knows of its ensemble.
import type { DataTree } from './data-tree.ts'
import { CONFIG_NODE, formatConfig, parseConfig, type QuorumConfig } from './quorum-config.ts'

/** Empty on a server alone, and on any that has never served. */
export function configIn(tree: DataTree): QuorumConfig {
  return parseConfig(new TextDecoder().decode(tree.get(CONFIG_NODE)?.data ?? undefined))
}

/** When a server begins to serve (initConfigInZKDatabase). `time` is in ms since the epoch. */
export function writeConfig(tree: DataTree, config: QuorumConfig, time: number): void {
  tree.setConfig(new TextEncoder().encode(formatConfig(config)), config.version, time)
}
