// Which program the clients of a workload run.
import { Random, type SimProcess, type World } from '@zk/testing/internal'
import type { Line, LookUp } from '../history/line.ts'
import type { Recorder } from '../history/recorder.ts'
import { wiretap } from '../history/wiretap.ts'
import type { Scenario, Workload } from '../scenario/scenario.ts'
import { Caller } from './caller.ts'
import { GroupProgram } from './group-program.ts'
import { MirrorProgram } from './mirror-program.ts'
import type { Participant } from './participant.ts'
import { Program, type ProgramOptions } from './program.ts'
import type { FencedResource } from './resource.ts'

/** What all clients share. */
export interface ProgramContext {
  readonly world: World
  readonly recorder: Recorder
  readonly resource: FencedResource
  readonly connectString: string
  /** The connections of clients with plain calls. */
  readonly lines: Line[]
  /** Their look-ups. */
  readonly lookUps: LookUp[]
}

type MakeProgram = (scenario: Scenario, client: number, runtime: SimProcess, context: ProgramContext) => Participant

const programs: Readonly<Record<Workload, MakeProgram>> = {
  Lock: ofTasks('Lock'),
  SharedLock: ofTasks('SharedLock'),
  LeaderElection: ofTasks('LeaderElection'),
  Semaphore: ofTasks('Semaphore'),
  MultiLock: ofTasks('MultiLock'),
  Counter: ofTasks('Counter'),
  Barrier: ofTasks('Barrier'),
  DoubleBarrier: ofTasks('DoubleBarrier'),
  Group({ clients, sessionTimeout }, client, runtime, { recorder, connectString }) {
    const { usesSasl, group } = clients[client]!
    return new GroupProgram({ client, runtime, connectString, sessionTimeout, usesSasl, plan: group!, recorder })
  },
  Mirror({ clients, sessionTimeout }, client, runtime, { recorder, connectString }) {
    const { usesSasl, mirror } = clients[client]!
    return new MirrorProgram({ client, runtime, connectString, sessionTimeout, usesSasl, plan: mirror!, recorder })
  },
  ZooKeeper({ clients, sessionTimeout }, client, runtime, { recorder, connectString, lines, lookUps }) {
    const { usesSasl = false, follows = false, calls } = clients[client]!
    const moment = () => recorder.moment()
    return new Caller({
      client,
      runtime,
      tapped: (term) => wiretap(runtime, { client, usesSasl, lines, lookUps, moment, term }),
      connectString,
      sessionTimeout,
      usesSasl,
      follows,
      plan: calls!,
      note: (happening) => recorder.note(happening),
    })
  },
}

export function programOf(
  scenario: Scenario,
  client: number,
  runtime: SimProcess,
  context: ProgramContext,
): Participant {
  return programs[scenario.recipe](scenario, client, runtime, context)
}

function ofTasks(recipe: ProgramOptions['recipe']): MakeProgram {
  return ({ seed, clients, sessionTimeout, network, semaphore }, client, runtime, context) => {
    const { world, recorder, resource, connectString } = context
    const underWay = new Random(seed, `outside ${client}`)
    return new Program({
      client,
      runtime,
      connectString,
      sessionTimeout,
      recipe,
      plan: clients[client]!,
      semaphore,
      recorder,
      writeOutside: (attempt, kind, fence) => {
        world.after(underWay.below(network.latency * 4 + 1), () => {
          recorder.add({ type: 'fenced', attempt, kind, fence, isAccepted: resource.serve(kind, fence) })
        })
      },
    })
  }
}
