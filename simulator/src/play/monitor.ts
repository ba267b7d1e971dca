import type { EnsembleModel } from '@zk/testing'

const word = new TextEncoder().encode('mntr')
const utf8 = new TextDecoder()

/** How many watches a member has, as `mntr` reports it; 0 while it does not serve. */
export function watchesAt(model: EnsembleModel, member: string, now: number): number {
  const link = model.accept(member, { address: '10.9.9.9' }, now)
  if (link === undefined) return 0
  let text = ''
  for (const output of model.received(link, word, now)) {
    if (output.link === link && output.type === 'send') text += utf8.decode(output.bytes)
  }
  return Number(/^zk_watch_count\t(\d+)$/m.exec(text)?.[1] ?? 0)
}
