// Who holds and who waits at a path, in order, by the names of @zk/recipes, Curator and kazoo.
import { type CallOptions, KeeperError, walk, type ZooKeeper } from '@zk/client'
import { parentOf } from '@zk/wire'
import { missing } from '../nodes/walking.ts'
import { type ContenderInfo, type HolderInfo, LeaderElection, Lock, Semaphore, SharedLock } from '@zk/recipes'

export interface Contender {
  /** The path of its node. */
  readonly path: string
  /** `lock`, `latch`, `read`, `write` or `semaphore`. */
  readonly kind: string
  /** undefined if that cannot be seen, of a permit of another program. */
  readonly isGranted: boolean | undefined
  /** The data of the node. */
  readonly label: string
  readonly sessionId: bigint
  readonly since: number
  readonly fencingToken: bigint
  readonly permit: number | undefined
  /** The contender for which this one waits; undefined if it waits for none. */
  readonly behind: Contender | undefined
}

const UUID = '[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}'
const COUNTER = String.raw`(\d{10}|-\d{9,10})`
const OURS = new RegExp(`^_c_${UUID}-(lock-|latch-|__READ__|__WRIT__)${COUNTER}$`)
/** kazoo's Lock, Election and WriteLock have `__lock__`, its ReadLock `__rlock__`. */
const KAZOO = new RegExp(`^[0-9a-f]{32}(__lock__|__rlock__)${COUNTER}$`)
/** A permit of a semaphore. */
const LEASE = new RegExp(String.raw`^_c_${UUID}-lease-\d+$`)
/** A permit of kazoo's semaphore. */
const KAZOO_LEASE = /^[0-9a-f]{32}$/

/** Whether the node is a contender, or a permit, by its name. */
export function isContenderName(name: string): boolean {
  return [OURS, KAZOO, LEASE, KAZOO_LEASE].some((pattern) => pattern.test(name))
}

const isPermitName = (name: string): boolean => LEASE.test(name)

/** Whether they are the children of a semaphore. Servers delete `locks` while nobody waits: see `hasPermits`. */
export const isSemaphore = (children: readonly string[]): boolean =>
  children.includes('leases') && children.includes('locks')

/** Whether a permit of a semaphore at this path is taken. */
export async function hasPermits(zk: ZooKeeper, path: string, options: CallOptions): Promise<boolean> {
  try {
    return (await zk.getChildren(`${path}/leases`, options)).children.some(isPermitName)
  } catch (error) {
    // Nodes of these names may be something else.
    if (KeeperError.is(error, 'NoNode', 'NoAuth')) return false
    throw error
  }
}

/** Reads under way at once, as of other commands that walk. */
const READS = 64

interface Finding {
  readonly signal: AbortSignal
  /** Called with the NoAuth of each node that may not be read: it is left out, with all nodes below it. */
  readonly onUnreadable: (error: KeeperError) => void
}

/** The paths at which contenders queue, as they are found. A semaphore is one path. Rejects with NoNode if there is no `root`. */
export async function* lockPathsBelow(
  zk: ZooKeeper,
  root: string,
  { signal, onUnreadable }: Finding,
): AsyncGenerator<string> {
  const semaphores = new Set<string>()
  const found = new Set<string>()
  let isThere = false
  const nodes = walk(zk, root, {
    concurrency: READS,
    signal,
    onUnreadable: (error) => {
      isThere = true
      onUnreadable(error)
    },
  })
  for await (const { path, children } of nodes) {
    isThere = true
    if (semaphores.has(path.replace(/\/(locks|leases)$/, ''))) continue
    const isLeases = /.\/leases$/.test(path) && children.some(isPermitName)
    const semaphore = isSemaphore(children) ? path : isLeases ? parentOf(path) : undefined
    if (semaphore !== undefined) semaphores.add(semaphore)
    if (semaphore === undefined && !children.some(isContenderName)) continue
    const lock = semaphore ?? path
    if (!found.has(lock)) yield lock
    found.add(lock)
  }
  if (!isThere) throw missing(zk, root)
}

/** Nodes that vanish while they are read are left out. Rejects with NoNode if the path does not exist. */
export async function contendersAt(zk: ZooKeeper, path: string, options: CallOptions): Promise<readonly Contender[]> {
  const { children } = await zk.getChildren(path, options)
  // The recipes need a node of their own.
  if (path === '/') return []
  const lists: (readonly Contender[])[] = []
  if (isSemaphore(children) || (children.includes('leases') && (await hasPermits(zk, path, options)))) {
    const semaphore = new Semaphore(zk, path)
    lists.push(held(await semaphore.holders(options)), inLine(await semaphore.contenders(options)))
  }
  const markers = new Set(children.map((name) => (OURS.exec(name) ?? KAZOO.exec(name))?.[1] ?? KAZOO_LEASE.test(name)))
  if (markers.has('lock-')) lists.push(inLine(await new Lock(zk, path).contenders(options)))
  if (markers.has('latch-')) lists.push(inLine(await new LeaderElection(zk, path).contenders(options)))
  if (markers.has('__READ__') || markers.has('__WRIT__')) {
    lists.push(inLine(await new SharedLock(zk, path).contenders(options)))
  }
  if (markers.has('__lock__') || markers.has('__rlock__')) lists.push(await kazooLine(zk, path, children, options))
  if (markers.has(true)) {
    const leases = children.filter((name) => KAZOO_LEASE.test(name))
    const read = await readAll(zk, path, leases, () => 'semaphore', options)
    lists.push(read.map((each) => ({ ...each, isGranted: true, permit: undefined, behind: undefined })))
  }
  return lists.flat()
}

type Read = Omit<Contender, 'isGranted' | 'permit' | 'behind'>

/** kazoo orders by the numbers of the nodes. Its readers wait for writers, everything else for the one before. */
async function kazooLine(
  zk: ZooKeeper,
  path: string,
  children: readonly string[],
  options: CallOptions,
): Promise<readonly Contender[]> {
  const names = children.flatMap((name) => {
    const [, marker, number] = KAZOO.exec(name) ?? []
    return marker === undefined ? [] : [{ name, marker, number: Number(number) }]
  })
  names.sort((one, other) => one.number - other.number)
  const hasReaders = names.some(({ marker }) => marker === '__rlock__')
  const kindOf = (name: string): string => (name.includes('__rlock__') ? 'read' : hasReaders ? 'write' : 'lock')
  const list = names.map(({ name }) => name)
  return inLine(await readAll(zk, path, list, kindOf, options))
}

async function readAll(
  zk: ZooKeeper,
  path: string,
  names: readonly string[],
  kindOf: (name: string) => string,
  options: CallOptions,
): Promise<Read[]> {
  const read = names.map(async (name) => {
    const node = `${path}/${name}`
    try {
      const { text, stat } = await zk.getData(node, options)
      const { ephemeralOwner: sessionId, ctime: since, czxid: fencingToken } = stat
      return [{ path: node, kind: kindOf(name), label: text, sessionId, since, fencingToken }]
    } catch (error) {
      if (KeeperError.is(error, 'NoNode')) return []
      throw error
    }
  })
  return (await Promise.all(read)).flat()
}

function held(holders: readonly HolderInfo[]): Contender[] {
  return holders.map((holder) => ({ ...fieldsOf(holder), permit: holder.permit, behind: undefined }))
}

/** Contenders of one line, oldest first. Those of the recipes know already whether they hold. */
function inLine(line: readonly (Read & Pick<Partial<ContenderInfo>, 'isGranted'>)[]): Contender[] {
  const seen: Contender[] = []
  let writer: Contender | undefined
  for (const each of line) {
    const behind = each.kind === 'read' ? writer : seen.at(-1)
    const isGranted = each.isGranted ?? behind === undefined
    const contender = { ...fieldsOf(each), isGranted, permit: undefined, behind: isGranted ? undefined : behind }
    seen.push(contender)
    if (each.kind !== 'read') writer = contender
  }
  return seen
}

function fieldsOf(each: Read & Pick<Partial<ContenderInfo>, 'isGranted'>): Omit<Contender, 'permit' | 'behind'> {
  const { path, kind, label, sessionId, since, fencingToken, isGranted } = each
  return { path, kind, label, sessionId, since, fencingToken, isGranted }
}
