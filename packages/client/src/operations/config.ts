import { type GetDataResponse, operations, type TypeOf } from '@zk/wire'
import { type EnsembleConfig, parseConfig } from './ensemble-config.ts'
import { type Stat, toStat } from './stat.ts'
import { describe } from '../base/arguments.ts'
import { type Operation, watching } from './operation.ts'

/** The node that has the configuration (ZooDefs.CONFIG_NODE). Chroots do not apply to it: `ZooKeeper` passes `noChroot`. */
export const CONFIG_NODE = '/zookeeper/config'

/** The result of `getConfig` and `reconfig`. */
export interface NodeConfig {
  /** The configuration that the server has. It may be old, as with every read. */
  readonly config: EnsembleConfig
  /** The Stat of the node. The version of the configuration is `config.version`. */
  readonly stat: Stat
}

/** A change of the ensemble: either `joining` or `leaving` (or both), or `members`. */
export interface Reconfiguration {
  /** The servers to add or to change, such as `server.4=zk4:2888:3888:participant;2181`. */
  readonly joining?: readonly string[] | undefined
  /** The ids of the servers to remove. */
  readonly leaving?: readonly number[] | undefined
  /** The complete new configuration: all `server.` entries, and the `group.` and `weight.` entries if there are any. */
  readonly members?: readonly string[] | undefined
  /** The version that the configuration must still have (`config.version`). @default any */
  readonly fromConfig?: bigint | undefined
}

type Read = Operation<[path: string], typeof operations.getData, NodeConfig>

export const getConfig: Read = {
  name: 'getConfig',
  wire: operations.getData,
  encode: (chroot, path) => ({ path: chroot.absolute(path), watch: false }),
  result: toNodeConfig,
}

export const getConfigAndWatch = watching(getConfig, 'data')

export const reconfig: Operation<[change: Reconfiguration], typeof operations.reconfig, NodeConfig> = {
  name: 'reconfig',
  wire: operations.reconfig,
  encode: (_, { joining, leaving, members, fromConfig = -1n }) => {
    if ((members === undefined) === (joining === undefined && leaving === undefined)) {
      throw new TypeError('reconfig takes either members, or joining or leaving (or both)')
    }
    if (typeof fromConfig !== 'bigint' || fromConfig < -1n) {
      throw new RangeError(`fromConfig must be a bigint: config.version, or -1n for any, not ${describe(fromConfig)}`)
    }
    return {
      joiningServers: joined('joining', joining, isServer, 'server.4=zk4:2888:3888:participant;2181'),
      leavingServers: joined('leaving', leaving, isId, '4'),
      newMembers: joined('members', members, isSetting, 'server.4=zk4:2888:3888:participant;2181'),
      curConfigId: fromConfig,
    }
  },
  result: toNodeConfig,
}

function toNodeConfig({ data, stat }: TypeOf<typeof GetDataResponse>): NodeConfig {
  return { config: parseConfig(new TextDecoder().decode(data ?? new Uint8Array())), stat: toStat(stat) }
}

function joined(name: string, list: unknown, isRight: (item: unknown) => boolean, example: string): string | null {
  if (list === undefined) return null
  if (!Array.isArray(list) || list.length === 0) throw new TypeError(`${name} must be a list that is not empty`)
  const wrong = list.findIndex((item) => !isRight(item))
  if (wrong !== -1) throw new TypeError(`${name}[${wrong}] must be like ${example}`)
  return list.join(',')
}

// Servers split all three lists at commas, and `members` also at line breaks. So an entry may contain neither.
const isServer = (item: unknown) => typeof item === 'string' && /^server\.\d+=[^,=\s]+$/.test(item)
const isSetting = (item: unknown) => typeof item === 'string' && /^(?:server|group|weight)\.\d+=[^,=\s]+$/.test(item)
const isId = (item: unknown) => Number.isSafeInteger(item) && (item as number) >= 0
