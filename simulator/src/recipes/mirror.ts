// Clients write the nodes of one tree, some of them ephemeral, and delete and make them again, and most clients have mirrors of it, of
// all levels or of a few, with readers that are fast or slow. After the storm the mirrors stay until they are as the tree is.
import { Random } from '@zk/testing/internal'
import { healthySessions } from '../checks/healthy-sessions.ts'
import { nothingLeft } from '../checks/orphans.ts'
import { settledInTime } from '../checks/settling.ts'
import { PATH } from '../play/paths.ts'
import { callFaultyOps } from '../scenario/fault.ts'
import { everyFault } from '../scenario/fault-kinds.ts'
import { drawEach } from './manners.ts'
import { mirrorChecks } from './mirror/checks.ts'
import { mirrorDifferences } from './mirror/differences.ts'
import { drawMirror, type MirrorClient, mirrorTime } from './mirror/plan.ts'
import { MirrorProgram } from './mirror/program.ts'
import type { Workload } from './workload.ts'

export const mirror: Workload<MirrorClient> = {
  draw: (setting) =>
    drawEach(setting, (client) => ({
      mirror: drawMirror(new Random(setting.seed, `mirror ${client}`), setting.sessionTimeout),
    })),
  // If the counter is set, a child that is made at that moment does not raise the pzxid. No server sets it.
  faults: everyFault.filter((type) => type !== 'presetCounter'),
  ops: callFaultyOps,
  // With one-shot watches in three seeds of ten.
  ensemble: (seed) => (new Random(seed, 'version').chance(0.3) ? { release: '3.5' } : {}),
  withLimits: true,
  mayFollow: false,
  time: ({ mirror }, { sessionTimeout }) => mirrorTime(mirror, sessionTimeout),
  play: (client, context) => new MirrorProgram(client, context),
  differences: mirrorDifferences,
  // No program of a mirror deletes the nodes.
  cleanUp: (operator) => operator.deleteParent(),
  paths: [PATH],
  checks: [settledInTime, healthySessions('I18'), nothingLeft, ...mirrorChecks],
}
