// What an active client does in every situation: always the same, so that its duties show.

/** What is asked of a client. An adapter gets these as JSON. */
export type Ask =
  | { readonly op: 'connect'; readonly servers: string; readonly timeout: number }
  | { readonly op: 'addAuth'; readonly scheme: string; readonly auth: string }
  | { readonly op: 'create' | 'set'; readonly path: string; readonly data: string }
  | { readonly op: 'get' | 'exists' | 'children'; readonly path: string; readonly watch: boolean }
  | { readonly op: 'watch'; readonly path: string; readonly recursive: boolean }
  | { readonly op: 'close' }

/** A client that does what it is asked. Rejects if the call failed; a call after which the session is gone must settle, too. */
export type Asked = (ask: Ask) => Promise<unknown>

const ROOT = '/conform'
export const READY = `${ROOT}/ready`

/** Makes nodes, and leaves a watch of each kind. The last node says that all is ready. */
export async function prepare(ask: Asked, servers: string, timeout: number): Promise<void> {
  await ask({ op: 'connect', servers, timeout })
  await ask({ op: 'addAuth', scheme: 'digest', auth: 'tom:secret' })
  for (const name of ['', '/data', '/children', '/fired', '/persistent', '/recursive', '/counter']) {
    await ask({ op: 'create', path: `${ROOT}${name}`, data: '' })
  }
  await ask({ op: 'get', path: `${ROOT}/data`, watch: true })
  await ask({ op: 'children', path: `${ROOT}/children`, watch: true })
  await ask({ op: 'exists', path: `${ROOT}/absent`, watch: true })
  await ask({ op: 'get', path: `${ROOT}/fired`, watch: true })
  await ask({ op: 'set', path: `${ROOT}/fired`, data: 'now' })
  for (const [path, recursive] of [
    [`${ROOT}/persistent`, false],
    [`${ROOT}/recursive`, true],
  ] as const) {
    // Not every client has these watches.
    await ask({ op: 'watch', path, recursive }).catch(() => {})
  }
  await ask({ op: 'create', path: READY, data: '' })
}

/** One write and one read. No write is like another, so that a second one shows. Failures are expected. */
export async function work(ask: Asked, round: number): Promise<void> {
  await ask({ op: 'set', path: `${ROOT}/counter`, data: String(round) }).catch(() => {})
  await ask({ op: 'get', path: `${ROOT}/counter`, watch: false }).catch(() => {})
}
