// Dials one server with TLS. The TLS options may come from a function of the caller, which may be asynchronous.
import type { RuntimeConnection, ConnectionHandler, DialTarget, Runtime } from '../../runtime/runtime.ts'
import { checkTls, type TlsOptions, type TlsSource } from '../../runtime/tls.ts'

/** Does the same as `runtime.dial`, with TLS. If it throws, the attempt has failed. */
export function dialTls(
  runtime: Runtime,
  tls: TlsSource,
  server: DialTarget,
  handler: ConnectionHandler,
): RuntimeConnection {
  const given = ask(tls)
  if (!(given instanceof Promise)) return runtime.dial({ ...server, tls: given }, handler)
  let connection: RuntimeConnection | undefined
  let isWanted = true
  const dial = (options: TlsOptions) => {
    if (isWanted) connection = runtime.dial({ ...server, tls: options }, handler)
  }
  const fail = (error: unknown) => {
    if (isWanted) handler.lost(error as Error)
  }
  given.then(dial).catch(fail)
  return {
    // Nothing is written before the connection is open.
    write: (bytes) => connection?.write(bytes) ?? false,
    close: () => {
      isWanted = false
      connection?.close()
    },
  }
}

function ask(tls: TlsSource): TlsOptions | Promise<TlsOptions> {
  if (typeof tls !== 'function') return checkTls(tls)
  try {
    const given = tls()
    return isThenable(given) ? answer(given) : checkTls(given)
  } catch (error) {
    throw failed(error)
  }
}

async function answer(given: PromiseLike<unknown>): Promise<TlsOptions> {
  try {
    return checkTls(await given)
  } catch (error) {
    throw failed(error)
  }
}

const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'

function failed(error: unknown): Error {
  const why = error instanceof Error ? error.message : 'it threw a value that is no Error'
  return new Error(`the tls function of connect failed: ${why}`, { cause: error })
}
