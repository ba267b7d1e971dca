// Which paths are to be read, and in which order: one read at a time for each path, and many paths at once.
import { WINDOW } from '../kernel/call-each.ts'
import type { Copy } from './copy.ts'
import { type Epoch, type Epochs, older } from './epochs.ts'
import type { Pace } from './pace.ts'
import type { MirroredPaths } from './mirrored-paths.ts'
import { childPath, parentOf } from './tree.ts'

/** How many bytes the answers to all reads of new nodes may have, if these nodes are like the others. */
const BYTES = 4 * 1024 * 1024
/** If more events than this wait in a small tree, the whole tree is compared. */
const LEAST_WAITING = 1_000

/** What is to be read of a node, as bits. */
export const Needs = {
  /** Its data. */
  data: 1,
  /** Its Stat, then its data and its list if the Stat shows that they have changed. */
  comparison: 2,
  /** Its list of children. */
  list: 4,
} as const

/** The reads of one path. */
export interface Job {
  readonly path: string
  epoch: Epoch
  needs: number
  /** What has been reported since the reads began. */
  again: number
  /** The epoch of what has been reported since; undefined if nothing has. */
  againEpoch: Epoch | undefined
}

/** The new names of a list, and which of them is read next. */
interface Listing {
  readonly path: string
  readonly names: readonly string[]
  epoch: Epoch
  next: number
}

/** All nodes of the copy, and which of them is compared next. */
interface Comparison {
  readonly ids: Uint32Array
  readonly epoch: Epoch
  next: number
}

/** What reads as long as there is a session. */
interface Reading {
  readonly reader: {
    /** How many new nodes are read together. */
    readonly most: number
    /** If there are several jobs, their nodes are new. */
    read(jobs: readonly Job[]): Promise<void>
  }
  /** Called if a read fails for good. */
  readonly fail: (error: unknown) => void
  /** How fast nodes are compared. */
  readonly pace: Pace
  /** In ms. */
  readonly now: () => number
}

/** A job of the comparison of all nodes. */
interface Compared {
  readonly pace: Pace
  readonly since: number
}

export class ReadQueue {
  readonly #copy: Copy
  readonly #paths: MirroredPaths
  readonly #epochs: Epochs
  /** What was reported, in the order in which it is read. */
  readonly #waiting = new Map<string, Job>()
  readonly #underWay = new Map<string, Job>()
  readonly #listings: Listing[] = []
  #comparison: Comparison | undefined
  readonly #compared = new Map<Job, Compared>()
  #reading: Reading | undefined
  #isPumpDue = false

  constructor(copy: Copy, paths: MirroredPaths, epochs: Epochs) {
    this.#copy = copy
    this.#paths = paths
    this.#epochs = epochs
  }

  /** Begins to read. All nodes are compared first. */
  start(reading: Reading): void {
    this.#reading = reading
    this.compareAll()
  }

  /** Stops reading. What is to be read waits for the next `start`. */
  stop(): void {
    this.#reading?.pace.leave(this.#pumpSoon)
    this.#reading = undefined
  }

  /** Whether nodes other than this job's node are still to be compared. */
  isComparing(job: Job): boolean {
    if (this.#comparison !== undefined) return true
    for (const each of this.#underWay.values()) if (each !== job && (each.needs & Needs.comparison) !== 0) return true
    return false
  }

  /** An event says that something of this node may have changed. */
  report(path: string, needs: number): void {
    if (!this.#paths.isInside(path)) return
    const { tree } = this.#copy
    if (this.#copy.hasPlaceFor(path)) return this.enqueue(path, needs)
    // Its parent is not in the copy. A read of the parent may be under way, too early to show this node in the list. If the
    // parent was not found yet either, its list is read later.
    const parent = parentOf(path)
    if (this.#underWay.has(parent) && tree.find(parent) === undefined) this.enqueue(parent, Needs.comparison)
  }

  /** Reads what the path needs. If a read of it is under way, reads again after it. `epoch` is the epoch of older work. */
  enqueue(path: string, needs: number, epoch?: Epoch): void {
    const job = this.#underWay.get(path)
    if (job !== undefined) {
      job.again |= needs
      job.againEpoch = this.#joined(job.againEpoch, epoch)
      return
    }
    const waiting = this.#waiting.get(path)
    if (waiting !== undefined) {
      waiting.needs |= needs
      if (epoch !== undefined) waiting.epoch = this.#joined(waiting.epoch, epoch)
      return
    }
    const added = newJob(path, needs, this.#epochs.begin(epoch))
    this.#waiting.set(path, added)
    // A comparison costs as many reads as there are nodes.
    if (this.#waiting.size > Math.max(LEAST_WAITING, this.#copy.tree.size)) this.compareAll()
    this.#pumpSoon()
  }

  /**
   * Reads the nodes with these names, which are new in the list of the path. These reads are part of this job. So is the work
   * that events have begun below the path since: it may have added names of the list to the copy, but not yet the nodes below them.
   */
  addChildren({ path, epoch }: Job, names: readonly string[]): void {
    this.#takeBelow(path, epoch)
    if (names.length > 0) this.#listings.push({ path, names, epoch: this.#epochs.begin(epoch), next: 0 })
  }

  /** Compares all nodes with the servers, and reads only what has changed. */
  compareAll(): void {
    const { tree } = this.#copy
    // The jobs that wait are compared, too.
    let epoch = this.#comparison?.epoch ?? this.#epochs.begin()
    for (const job of this.#waiting.values()) {
      // A node that is not in the copy is found in the list of its parent.
      const parent = tree.find(job.path) === undefined ? tree.find(parentOf(job.path)) : undefined
      if (parent !== undefined) tree.setPzxid(parent, -1n)
      const first = older(epoch, job.epoch)
      this.#epochs.end(first === epoch ? job.epoch : epoch)
      epoch = first
    }
    this.#waiting.clear()
    for (const { path } of this.#underWay.values()) {
      if (tree.find(path) === undefined) this.enqueue(path, Needs.comparison)
    }
    this.#comparison = { ids: tree.ids(), epoch, next: 0 }
    if (tree.size === 0 && !this.#underWay.has(tree.root)) this.enqueue(tree.root, Needs.comparison)
    this.#pumpSoon()
  }

  // --- the window of reads ----------------------------------------------------------------------------------------

  /** Once per turn: several events of a node cause one read. */
  readonly #pumpSoon = (): void => {
    if (this.#isPumpDue) return
    this.#isPumpDue = true
    void Promise.resolve().then(() => {
      this.#isPumpDue = false
      this.#pump()
    })
  }

  #pump(): void {
    const reading = this.#reading
    while (reading !== undefined) {
      const jobs = this.#nextJobs(reading)
      if (jobs.length === 0) return
      for (const job of jobs) this.#underWay.set(job.path, job)
      reading.reader.read(jobs).then(
        () => this.#done(jobs),
        (error: unknown) => {
          for (const job of jobs) this.#putBack(job)
          reading.fail(error)
        },
      )
    }
  }

  /** One job, or several of new nodes; none while enough is under way. */
  #nextJobs(reading: Reading): readonly Job[] {
    const { size } = this.#underWay
    if (size < WINDOW) {
      for (const [path, job] of this.#waiting) {
        this.#waiting.delete(path)
        return [job]
      }
      const compared = this.#nextCompared(reading)
      if (compared !== undefined) return [compared]
    }
    // Nodes that are gone are found before new nodes are added: so the copy never has more nodes than exist.
    if (this.#waiting.size > 0 || this.#comparison !== undefined) return []
    const jobs: Job[] = []
    const { most } = reading.reader
    for (let room = Math.min(most, this.#window(most) - size); room > 0; room--) {
      const job = this.#nextOfListings()
      if (job === undefined) break
      jobs.push(job)
    }
    return jobs
  }

  /** How many new nodes are read at once, `most` with each request. The first ones show how large they are. */
  #window(most: number): number {
    const { tree } = this.#copy
    return most === 1 || tree.size < WINDOW ? WINDOW : Math.max(WINDOW, tree.nodesIn(BYTES))
  }

  /** Returns undefined while enough nodes are being compared, and when all have been. */
  #nextCompared({ pace, now }: Reading): Job | undefined {
    if (this.#comparison === undefined || !pace.begin(this.#pumpSoon)) return undefined
    const since = now()
    const job = this.#nextOfComparison()
    if (job === undefined) pace.cancel()
    else this.#compared.set(job, { pace, since })
    return job
  }

  #nextOfListings(): Job | undefined {
    for (let listing = this.#listings.at(-1); listing !== undefined; listing = this.#listings.at(-1)) {
      const { path: parent, names, epoch } = listing
      while (listing.next < names.length) {
        const path = childPath(parent, names[listing.next++]!)
        const job = this.#underWay.get(path)
        const isKnown = job !== undefined || this.#copy.tree.find(path) !== undefined
        if (!isKnown) return newJob(path, Needs.data, this.#epochs.begin(epoch))
        // An event came first.
        if (job !== undefined) job.epoch = this.#joined(job.epoch, epoch)
        this.#takeBelow(path, epoch)
      }
      this.#listings.pop()
      this.#epochs.end(epoch)
    }
    return undefined
  }

  #nextOfComparison(): Job | undefined {
    if (this.#comparison === undefined) return undefined
    const { tree } = this.#copy
    const { ids, epoch } = this.#comparison
    while (this.#comparison.next < ids.length) {
      const id = ids[this.#comparison.next++]!
      if (!tree.has(id)) continue
      const path = tree.path(id)
      if (!this.#underWay.has(path)) return newJob(path, Needs.comparison, this.#epochs.begin(epoch))
      this.enqueue(path, Needs.comparison, epoch)
    }
    this.#comparison = undefined
    this.#epochs.end(epoch)
    return undefined
  }

  #done(jobs: readonly Job[]): void {
    for (const job of jobs) {
      this.#underWay.delete(job.path)
      this.#endCompared(job)
      const { path, again, againEpoch } = job
      if (againEpoch !== undefined) this.#waiting.set(path, newJob(path, again, againEpoch))
      this.#epochs.end(job.epoch)
    }
    this.#pump()
  }

  /** The session has ended: the node is read again in the next one. */
  #putBack(job: Job): void {
    const { path, needs, epoch, again, againEpoch } = job
    this.#underWay.delete(path)
    this.#compared.get(job)?.pace.cancel()
    this.#compared.delete(job)
    const both = againEpoch === undefined ? epoch : this.#joined(epoch, againEpoch)
    if (againEpoch !== undefined) this.#epochs.end(againEpoch)
    this.#waiting.set(path, newJob(path, needs | again, both))
    this.#pumpSoon()
  }

  #endCompared(job: Job): void {
    const compared = this.#compared.get(job)
    if (compared === undefined) return
    this.#compared.delete(job)
    if (this.#reading === undefined) compared.pace.cancel()
    else compared.pace.end(this.#reading.now() - compared.since)
  }

  // --- work that becomes a part of older work ---------------------------------------------------------------------

  /** From now on, work of these two epochs belongs to the older one. Without a first epoch, the work begins here. */
  #joined(present: Epoch | undefined, other: Epoch | undefined): Epoch {
    if (present === undefined) return this.#epochs.begin(other)
    if (other === undefined || older(present, other) === present) return present
    this.#epochs.begin(other)
    this.#epochs.end(present)
    return other
  }

  /** All work below the path becomes part of the work of this epoch. */
  #takeBelow(path: string, epoch: Epoch): void {
    if (!this.#epochs.hasYounger(epoch)) return
    const prefix = childPath(path, '')
    for (const works of [this.#underWay.values(), this.#waiting.values(), this.#listings]) {
      for (const work of works) {
        const isBelow = work.epoch.number > epoch.number && work.path.startsWith(prefix)
        if (isBelow) work.epoch = this.#joined(work.epoch, epoch)
      }
    }
  }
}

function newJob(path: string, needs: number, epoch: Epoch): Job {
  return { path, needs, epoch, again: 0, againEpoch: undefined }
}
