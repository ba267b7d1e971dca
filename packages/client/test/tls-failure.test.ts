import { expect, test } from 'vitest'
import { explainEnd, resetFailure, tlsFailure } from '../src/runtime/tls-failure.ts'

const failed = (code: string, message: string) => Object.assign(new Error(message), { code })

// What OpenSSL says when the server refuses an expired certificate of the client, which node:tls servers do without an alert.
test.each(['handshaking', 'open'] as const)(
  'tlsFailure of a refused certificate of the client blames that, while %s',
  (stage) => {
    const refused = failed('ERR_SSL_SSLV3_ALERT_CERTIFICATE_EXPIRED', 'sslv3 alert certificate expired')
    expect(tlsFailure(refused, stage, true).message).toMatch(
      /^the server does not accept the certificate of this client: see tls\.cert/,
    )
  },
)

test('tlsFailure asks for a certificate if the client has none', () => {
  const refused = failed('ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE', 'sslv3 alert bad certificate')
  expect(tlsFailure(refused, 'open', false).message).toMatch(/^the server wants a client certificate: give tls\.cert/)
})

test('tlsFailure of an expired certificate of the server blames that', () => {
  const expired = failed('CERT_HAS_EXPIRED', 'certificate has expired')
  expect(tlsFailure(expired, 'handshaking', false).message).toMatch(
    /^the certificate of the server is not valid at this time/,
  )
})

test('tlsFailure of an alert without a code adds no code', () => {
  const alert = tlsFailure(new Error('ssl/tls alert handshake failure'), 'handshaking', false)
  expect(alert.message).toMatch(/^the server refused the TLS handshake/)
  expect(alert).not.toHaveProperty('code')
})

test('explainEnd of a connection that was open names a server without a quorum, the usual reason in an outage', () => {
  expect(explainEnd('open')).toMatch(/^the server closed the connection without replying; it may have no quorum, /)
})

test.each([
  [
    'ECONNRESET',
    'open',
    /^the server reset the connection without replying; it may have no quorum, .*maxClientCnxns.*proxy/,
  ],
  ['EPIPE', 'open', /^the server reset the connection without replying; .*\(EPIPE\)$/],
  ['ECONNRESET', 'dialing', /^the server reset the connection without replying; /],
  ['ECONNRESET', 'handshaking', /^the server closed the connection during the TLS handshake; it may not speak TLS/],
] as const)(
  'resetFailure explains %s while %s as an end is explained, and keeps code and cause',
  (code, stage, text) => {
    const reset = failed(code, `read ${code}`)
    expect(resetFailure(reset, stage)).toMatchObject({ message: expect.stringMatching(text), code, cause: reset })
  },
)

test('resetFailure explains nothing else', () => {
  expect(resetFailure(failed('ECONNREFUSED', 'connect ECONNREFUSED'), 'dialing')).toBeUndefined()
})
