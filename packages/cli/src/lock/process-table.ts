// The processes of this machine: /proc on Linux, where `ps` may be missing in a container, and `ps` elsewhere.
import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { promisify } from 'node:util'

/** A variable with the nodes that are held for a process, a line each: a command may run `zk lock` itself. */
const NODES = 'ZK_LOCK_NODES'

/** The variable for the processes of a command that holds this node. */
export function markOf(node: string, { [NODES]: outer }: NodeJS.ProcessEnv): Readonly<Record<string, string>> {
  return { [NODES]: outer === undefined ? node : `${outer}\n${node}` }
}

interface Process {
  readonly pid: number
  readonly parent: number
  readonly group: number
  /** Whether its environment names the node that was looked for. Only on Linux, and only for processes of this user. */
  readonly isMarked: boolean
}

/** All processes that run, or are stopped. Those that have ended and wait for their parents (zombies) are left out. */
async function processes(node: string, since: number): Promise<Process[]> {
  if (process.platform !== 'linux') return fromPs()
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  // One after the other: each read needs a descriptor, of which there may be few.
  return pids.map((pid) => readProcess(pid, node, since)).filter((each) => each !== undefined)
}

/** In `/proc/PID/stat`, after the name of the program. */
const START_TIME = 19

function readProcess(pid: string, node: string, since: number): Process | undefined {
  const stat = contentOf(`/proc/${pid}/stat`, ENDED)
  if (stat === undefined) return undefined
  // The name of the program is in parentheses, and may have parentheses and spaces itself.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [state = '', parent = '', group = ''] = fields
  // The first thread of a process may have ended before the others.
  const threads = Number(fields[17])
  if ((state === 'Z' || state === 'X') && threads <= 1) return undefined
  // Most processes are older than the command. To read all of their environments would take most of the time.
  if (Number(fields[START_TIME]) < since) return undefined
  const environment = contentOf(`/proc/${pid}/environ`, NOT_OURS) ?? ''
  const marks = environment.split('\0').find((each) => each.startsWith(`${NODES}=`)) ?? ''
  const isMarked = marks
    .slice(NODES.length + 1)
    .split('\n')
    .includes(node)
  return { pid: Number(pid), parent: Number(parent), group: Number(group), isMarked }
}

const ENDED: readonly unknown[] = ['ENOENT', 'ESRCH']
/** Of another user, or of a program with rights of its own. */
const NOT_OURS: readonly unknown[] = [...ENDED, 'EACCES', 'EPERM']

/** undefined after one of these errors. Any other one says nothing about the process: nobody may believe that it has ended. */
function contentOf(file: string, expected: readonly unknown[]): string | undefined {
  try {
    return readFileSync(file, 'latin1')
  } catch (error) {
    if (expected.includes((error as NodeJS.ErrnoException).code)) return undefined
    throw error
  }
}

async function fromPs(): Promise<Process[]> {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pid=,ppid=,pgid=,stat='])
  return stdout.split('\n').flatMap((line) => {
    const [pid = '', parent = '', group = '', state = ''] = line.trim().split(/\s+/)
    if (pid === '' || state.startsWith('Z')) return []
    return [{ pid: Number(pid), parent: Number(parent), group: Number(group), isMarked: false }]
  })
}

/** When the process was started, as in `Family`. */
export function startTimeOf(pid: number): number {
  if (process.platform !== 'linux') return 0
  const stat = contentOf(`/proc/${pid}/stat`, ENDED) ?? ''
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[START_TIME]) || 0
}

/** The process `first` with all that it has started, as far as it can be seen. */
export interface Family {
  readonly first: number
  /** When it was started, in ticks since the machine was: no other member is older. Only on Linux; 0 elsewhere. */
  readonly since: number
  /** Whether `first` leads a process group of its own. */
  readonly ownsGroup: boolean
  /** The node that is held: in the environment of each of them. */
  readonly node: string
}

/** The members that run: the group, descendants, and marked processes, also if they have left the group or lost their parents. */
export async function membersOf(
  { first, since, ownsGroup, node }: Family,
  except: readonly number[],
): Promise<Process[]> {
  const all = await processes(node, since)
  const isMember = ({ pid, group, isMarked }: Process): boolean =>
    pid === first || isMarked || (ownsGroup && group === first)
  const members = new Set(all.filter(isMember))
  const pids = new Set([...members].map(({ pid }) => pid))
  for (let before = -1; before < pids.size;) {
    before = pids.size
    for (const each of all) {
      if (!pids.has(each.parent)) continue
      members.add(each)
      pids.add(each.pid)
    }
  }
  return [...members].filter(({ pid }) => !except.includes(pid))
}

/** Sends the signal to each member once. Resolves with the members that were there after the group had got it. */
export async function signalFamily(
  family: Family,
  signal: NodeJS.Signals,
  except: readonly number[] = [process.pid],
): Promise<Process[]> {
  const { first, ownsGroup } = family
  // The group at once: it takes no time to find, and none of its members sees another one end first.
  if (ownsGroup) signalProcess(-first, signal)
  const members = await membersOf(family, except)
  for (const { pid, group } of members) if (!ownsGroup || group !== first) signalProcess(pid, signal)
  return members
}

/** Does nothing if there is no such process, or it belongs to somebody else. */
function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // It has ended meanwhile.
  }
}
