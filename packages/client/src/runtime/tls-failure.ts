// Explains why a connection failed, and what to do. Most of the reasons are about TLS.

/** The stage of a connection: before TCP is connected, during the TLS handshake, or after it. */
export type Stage = 'dialing' | 'handshaking' | 'open'

const WHERE_TO_LOOK = 'look at the tls options'

/**
 * Returns an error whose message says what to do. An error that is not about TLS is returned as it is. `hasCertificate` says
 * whether the options have a certificate of the client.
 */
export function tlsFailure(error: Error, stage: Stage, hasCertificate: boolean): Error {
  const code = codeOf(error)
  const explanation = explain(code, error, stage, hasCertificate)
  return explanation === undefined
    ? error
    : Object.assign(new Error(explanation, { cause: error }), code === '' ? {} : { code })
}

/** Makes the error for options that node:tls does not accept, such as a key that cannot be read. */
export function tlsSetUpFailure(error: unknown): Error {
  const { message } = error instanceof Error ? error : new Error('unknown')
  // If an option has the wrong type, the message of Node shows its value, which may be a secret. So that part is cut off, and
  // there is no cause.
  const [what] = message.split(/\.? Received /)
  return new Error(`TLS could not be set up: ${what}; ${WHERE_TO_LOOK}`)
}

function explain(code: string, error: Error, stage: Stage, hasCertificate: boolean): string | undefined {
  if (/ALTNAME_INVALID/.test(code)) {
    return `the certificate of the server is for another host name: ${error.message}. Connect by a name that it has, or give tls.servername (${code})`
  }
  if (/EXPIRED|NOT_YET_VALID/.test(code) && !/ALERT/.test(code)) {
    return `the certificate of the server is not valid at this time (${code})`
  }
  if (code === 'CERT_REVOKED') return `the certificate of the server was revoked (${code})`
  if (untrusted.test(code)) {
    return `the certificate of the server is not trusted: ${error.message}. Give the authority that signed it in tls.ca (${code})`
  }
  if (/ALERT/i.test(code) || /\balert\b/i.test(error.message)) {
    return explainAlert(code === '' ? error.message : code, hasCertificate)
  }
  if (/WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|UNEXPECTED_MESSAGE|RECORD_LAYER|HTTP_REQUEST/.test(code)) {
    return `the server does not speak TLS on this port (${code})`
  }
  if (/UNSUPPORTED_PROTOCOL|NO_PROTOCOLS_AVAILABLE/.test(code)) return `${NO_COMMON_VERSION} (${code})`
  if (stage !== 'handshaking') return undefined
  // The error of the caller's own `checkServerIdentity`.
  if (code === '') return undefined
  return `the TLS handshake failed: ${error.message}; ${WHERE_TO_LOOK}`
}

const untrusted = /SELF_SIGNED|UNABLE_TO_|CERT_UNTRUSTED|CERT_CHAIN|CERT_SIGNATURE|INVALID_CA|CERT_REJECTED/

const NO_COMMON_VERSION = 'client and server have no version of TLS in common; see tls.minVersion and tls.maxVersion'

/** Explains an alert of the server, which is only a short name. */
function explainAlert(alert: string, hasCertificate: boolean): string {
  if (/PROTOCOL.VERSION/i.test(alert)) return `${NO_COMMON_VERSION} (${alert})`
  if (/CERTIFICATE|UNKNOWN.CA/i.test(alert)) {
    // Some servers answer a missing certificate with `bad certificate`.
    return hasCertificate && !/CERTIFICATE.REQUIRED/i.test(alert)
      ? `the server does not accept the certificate of this client: see tls.cert (${alert})`
      : `the server wants a client certificate: give tls.cert and tls.key (${alert})`
  }
  return (
    `the server refused the TLS handshake; it may want a client certificate (tls.cert, tls.key), another ` +
    `version or other ciphers (${alert})`
  )
}

/** The error codes if the peer has reset the connection, or has closed it while we were writing. */
const RESET = new Set(['ECONNRESET', 'EPIPE', 'ECONNABORTED'])

/**
 * Returns an error that explains why the server may have reset the connection; undefined if `error` is about something else. A
 * connection that is closed with bytes unread is reset, so the reasons are those of an end.
 */
export function resetFailure(error: Error, stage: Stage): Error | undefined {
  const code = codeOf(error)
  if (!RESET.has(code)) return undefined
  return Object.assign(new Error(`${explainClosing('reset', stage)} (${code})`, { cause: error }), { code })
}

/** Explains why the server may have closed the connection without an alert and without an answer. */
export const explainEnd = (stage: Stage) => explainClosing('closed', stage)

function explainClosing(how: 'closed' | 'reset', stage: Stage): string {
  if (stage === 'handshaking') {
    return (
      // In this stage Node also reports an end as ECONNRESET.
      `the server closed the connection during the TLS handshake; it may not speak TLS on this port, want a ` +
      'client certificate (tls.cert, tls.key), or be a proxy or balancer that reaches no server'
    )
  }
  return (
    `the server ${how} the connection without replying; it may have no quorum, have too many connections from this client ` +
    '(maxClientCnxns), be behind what the client has seen, want a client certificate, or another one, speak TLS while ' +
    'the client does not, or be a proxy or balancer that reaches no server'
  )
}

function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : ''
}
