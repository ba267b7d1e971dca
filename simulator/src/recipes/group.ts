// Clients join, write and leave, under names of their own or one name that several want, and most of them follow the members. After
// the storm every member that has not left stays, until the group is as it should be; then all leave.
import { Random } from '@zk/testing/internal'
import { checksOfCalls } from '../checks/lists.ts'
import { PATH } from '../play/paths.ts'
import { callFaultyOps } from '../scenario/fault.ts'
import { everyFault } from '../scenario/fault-kinds.ts'
import { groupChecks } from './group/checks.ts'
import { groupDifferences } from './group/differences.ts'
import { drawGroup, type GroupClient, groupTime } from './group/plan.ts'
import { GroupProgram } from './group/program.ts'
import { drawEach } from './manners.ts'
import type { Workload } from './workload.ts'

export const group: Workload<GroupClient> = {
  draw: (setting) =>
    drawEach(setting, (client) => ({
      group: drawGroup(new Random(setting.seed, `group ${client}`), client, setting.sessionTimeout),
    })),
  faults: everyFault,
  ops: callFaultyOps,
  withLimits: true,
  mayFollow: false,
  time: ({ group }, { sessionTimeout }) => groupTime(group, sessionTimeout),
  play: (client, context) => new GroupProgram(client, context),
  differences: groupDifferences,
  paths: [PATH],
  checks: [...checksOfCalls, ...groupChecks],
}
