// The processes of this machine: /proc on Linux, where `ps` may be missing in a container, and `ps` elsewhere.
import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { promisify } from 'node:util'

interface Process {
  readonly pid: number
  readonly parent: number
  readonly group: number
  /** Whether its environment has the mark that was looked for. Only on Linux, and only for processes of this user. */
  readonly isMarked: boolean
}

/** All processes that run, or are stopped. Those that have ended and wait for their parents (zombies) are left out. */
function processes(mark: string): Promise<Process[]> {
  return process.platform === 'linux' ? fromProc(mark) : fromPs()
}

async function fromProc(mark: string): Promise<Process[]> {
  const names = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const found = await Promise.all(names.map((name) => readProcess(name, mark)))
  return found.filter((each) => each !== undefined)
}

async function readProcess(pid: string, mark: string): Promise<Process | undefined> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'latin1')
    // The name of the program is in parentheses, and may have parentheses and spaces itself.
    const [state = '', parent = '', group = ''] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    if (state === 'Z' || state === 'X') return undefined
    const environment = await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '')
    const isMarked = environment.split('\0').includes(mark)
    return { pid: Number(pid), parent: Number(parent), group: Number(group), isMarked }
  } catch {
    // It has ended meanwhile.
    return undefined
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

/** The process `first` with all that it has started, as far as it can be seen. */
export interface Family {
  readonly first: number
  /** Whether `first` leads a process group of its own. */
  readonly ownsGroup: boolean
  /** `NAME=value` in the environment of each of them. */
  readonly mark: string
}

/** The members that run: the group, descendants, and marked processes, also if they have left the group or lost their parents. */
export async function membersOf({ first, ownsGroup, mark }: Family, except: readonly number[]): Promise<number[]> {
  const all = await processes(mark)
  const members = new Set(
    all
      .filter(({ pid, group, isMarked }) => pid === first || isMarked || (ownsGroup && group === first))
      .map(({ pid }) => pid),
  )
  for (let before = -1; before < members.size;) {
    before = members.size
    for (const { pid, parent } of all) if (members.has(parent)) members.add(pid)
  }
  return [...members].filter((pid) => !except.includes(pid))
}

/** False if there is no such process, or it belongs to somebody else. */
function signalProcess(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal)
  } catch {
    return false
  }
}

/** Sends the signal to all members. Resolves with those that were there. */
export async function signalFamily(
  family: Family,
  signal: NodeJS.Signals,
  except: readonly number[] = [process.pid],
): Promise<number[]> {
  const members = await membersOf(family, except)
  // The group at once, so that none of its members sees another one end first.
  if (family.ownsGroup) signalProcess(-family.first, signal)
  for (const pid of members) signalProcess(pid, signal)
  return members
}
