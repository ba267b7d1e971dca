// Bodies of replies where a test does not care for every field.
import type { Create2Response, GetChildren2Response, GetDataResponse, Stat, TypeOf } from '@zk/wire'

export const someStat: Stat = {
  czxid: 1n,
  mzxid: 1n,
  ctime: 1_700_000_000_000n,
  mtime: 1_700_000_000_000n,
  version: 0,
  cversion: 0,
  aversion: 0,
  ephemeralOwner: 0n,
  dataLength: 0,
  numChildren: 0,
  pzxid: 1n,
}

export function nodeData(text: string): TypeOf<typeof GetDataResponse> {
  return { data: new TextEncoder().encode(text), stat: { ...someStat, dataLength: text.length } }
}

export function children(...names: string[]): TypeOf<typeof GetChildren2Response> {
  return { children: names, stat: { ...someStat, numChildren: names.length } }
}

export function created(path: string): TypeOf<typeof Create2Response> {
  return { path, stat: someStat }
}
