// What zk says while it waits for its turn and no server answers.
import type { ZooKeeper } from '@zk/client'
import { say } from '../command/output.ts'

/** Of a shorter outage nothing is said: cron would send a mail for each change of servers. In ms. */
const WORTH_SAYING = 2_000

/** Says so until it is stopped by the function that it returns, which may be called twice. */
export function sayOutages(zk: ZooKeeper): () => void {
  const states = zk.watchState()
  let isSaid = false
  let timer: ReturnType<typeof setTimeout> | undefined
  const stop = (): void => {
    clearTimeout(timer)
    void states.return?.()
  }
  const follow = async (): Promise<void> => {
    for await (const state of states) {
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
  }
  void follow()
  return stop
}
