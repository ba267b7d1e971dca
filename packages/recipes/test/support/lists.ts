// Lists as the client reads them, of names that a test writes down.
import { NameList } from '@zk/client/internal'
import { ContenderList } from '../../src/queue/contender-list.ts'
import type { Kind } from '../../src/queue/names.ts'
import { ContenderKinds } from '../../src/queue/contender-kinds.ts'

export function listOf(kinds: readonly Kind[], names: readonly string[]): ContenderList {
  return new ContenderList(NameList.ofStrings(names), new ContenderKinds(kinds))
}
