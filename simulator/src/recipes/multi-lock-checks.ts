// The invariants of several locks at once. Each path is looked at by itself.
import type { Life } from '../history/server-log.ts'
import type { Played } from '../history/played.ts'
import { exclude, kindOfNode } from '../scenario/hold-kind.ts'
import { attemptsOf, heldOnTrust } from '../checks/attempts.ts'
import type { Check, Violation } from '../checks/check.ts'
import { firstPair, type Grant, heldOverTime } from '../checks/holders.ts'

/** Whether two nodes of one path exclude each other; never if their paths differ. */
function clash(one: string, other: string): boolean {
  return parentOf(one) === parentOf(other) && exclude(kindOfNode(one)!, kindOfNode(other)!)
}

const parentOf = (path: string) => path.slice(0, path.lastIndexOf('/'))

/** M1: no path has two holders that exclude each other at the same time, in true time. `heldOverTime` says what counts as held. */
export const oneHolderOfEach: Check = (played) => {
  const onTrust = heldOnTrust(played)
  const isLeftOut = (grant: Grant) => nodesOf(grant).some((path) => onTrust.has(path))
  for (const { at, holds } of heldOverTime(played, isLeftOut)) {
    const pair = firstPair(holds, (one, other) => pathOfBoth(one, other) !== undefined)
    if (pair === undefined) continue
    const [one, other] = pair
    return [
      {
        invariant: 'M1',
        at,
        what: `attempts ${one.attempt} and ${other.attempt} hold ${pathOfBoth(one, other)} at once`,
      },
    ]
  }
  return []
}

/** A path on which the two exclude each other; undefined if there is none. */
function pathOfBoth(one: Grant, other: Grant): string | undefined {
  const node = nodesOf(one).find((each) => nodesOf(other).some((another) => clash(each, another)))
  return node && parentOf(node)
}

/** M2: a grant has a token for each path, the czxid of its node; and all nodes of a `MultiLock` were made by one transaction. */
export const tokensAreOfNodes: Check = (played) =>
  attemptsOf(played).flatMap(({ id, granted }): Violation[] => {
    if (granted === undefined) return []
    const { at, fence, tokens = [] } = granted
    const czxids = nodesOf(granted).map((path) => played.log.lives.get(path)?.czxid)
    const areOfNodes = czxids.every((czxid, index) => czxid === tokens[index])
    const isOne = czxids.every((czxid) => czxid === fence)
    if (areOfNodes && isOne) return []
    return [{ invariant: 'M2', at, what: `attempt ${id} has the tokens ${tokens.join()}, not ${czxids.join()}` }]
  })

/**
 * M3: at the time of a grant no older node that excludes it was left on any of its paths. When it had to wait for one, all nodes of
 * the grant were checked by a committed request after the last of them was gone.
 */
export const eachIsProven: Check = ({ history, log }) =>
  attemptsOf({ history }).flatMap(({ id, granted, queued }): Violation[] => {
    if (granted === undefined) return []
    const { at, fence } = granted
    const wrong = (what: string): Violation[] => [{ invariant: 'M3', at, what: `attempt ${id} ${what}` }]
    const nodes = nodesOf(granted).map((path) => log.lives.get(path)!)
    const older = nodes.flatMap((node) => olderThan(node, log))
    const present = older.find(({ end }) => end === undefined || end.at > Math.ceil(at))
    if (present !== undefined) return wrong(`was granted while ${present.path} was there`)
    if (!queued.some((each) => each.at >= nodes[0]!.createdAt)) return []
    const last = older.reduce((max, { end }) => (end!.zxid > max ? end!.zxid : max), fence)
    const isChecked = ({ path }: Life) =>
      log.checks.some((each) => each.path === path && each.zxid > last && each.at <= at)
    const unchecked = nodes.find((node) => !isChecked(node))
    return unchecked === undefined ? [] : wrong(`was granted without a check of ${unchecked.path}`)
  })

function olderThan(node: Life, log: Played['log']): Life[] {
  return [...log.lives.values()].filter(
    (other) => other.owner !== 0n && other.place < node.place && clash(other.path, node.path),
  )
}

/** The nodes of all paths of a grant. */
function nodesOf({ path, nodes = [path] }: Grant): readonly string[] {
  return nodes
}
