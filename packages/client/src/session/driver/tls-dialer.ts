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
  if (typeof tls !== 'function') return runtime.dial({ ...server, tls: checkTls(tls) }, handler)
  let connection: RuntimeConnection | undefined
  let isWanted = true
  const dial = (options: TlsOptions) => {
    if (isWanted) connection = runtime.dial({ ...server, tls: options }, handler)
  }
  const fail = (error: unknown) => {
    if (isWanted) handler.lost(error as Error)
  }
  optionsOf(tls).then(dial).catch(fail)
  return {
    // Nothing is written before the connection is open.
    write: (bytes) => connection?.write(bytes) ?? false,
    close: () => {
      isWanted = false
      connection?.close()
    },
  }
}

async function optionsOf(tls: () => unknown): Promise<TlsOptions> {
  try {
    return checkTls(await tls())
  } catch (error) {
    const why = error instanceof Error ? error.message : 'it threw a value that is not an Error'
    throw new Error(`the tls function of connect failed: ${why}`, { cause: error })
  }
}
