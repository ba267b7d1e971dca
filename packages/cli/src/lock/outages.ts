// What zk says while it waits and no server answers.
import type { ZooKeeper } from '@zk/client'
import { say } from '../command/output.ts'

/** Of a shorter outage nothing is said: cron would send a mail for each change of servers. In ms. */
const WORTH_SAYING = 2_000

/** Resolves when the client is closed. */
export async function sayOutages(zk: ZooKeeper): Promise<void> {
  let isSaid = false
  let timer: ReturnType<typeof setTimeout> | undefined
  for await (const state of zk.watchState()) {
    if (state.name === 'connecting' || state.name === 'disconnected') {
      timer ??= setTimeout(() => {
        isSaid = true
        say('no server answers: trying again')
      }, WORTH_SAYING)
      continue
    }
    clearTimeout(timer)
    timer = undefined
    if (isSaid && state.name === 'connected') say(`connected to ${state.server}`)
    isSaid = false
  }
  clearTimeout(timer)
}
