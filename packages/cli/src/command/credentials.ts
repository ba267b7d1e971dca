// Passwords, keys and certificates. They are never on a command line, which every user of the machine sees, and never in a message.
import { readFileSync, statSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import type { TlsOptions } from '@zk/client'
import { UsageError } from './options.ts'
import type { Setting, Settings } from './settings.ts'

/** A user and a password. Throws a UsageError. */
export function credentialsIn(setting: Setting, value: string): readonly [user: string, password: string] {
  const [, user, password] = /^([^:]+):(.+)$/s.exec(textOf(setting, value)) ?? []
  if (user === undefined || password === undefined) {
    throw new UsageError(`${setting.isContent ? setting.source : value} must be USER:PASSWORD`)
  }
  return [user, password]
}

/** A function that reads the files again for each connection, because certificates are replaced. Throws a UsageError. */
export function tlsOf(settings: Settings): (() => TlsOptions) | undefined {
  if (![...settings.keys()].some((name) => name.startsWith('tls'))) return undefined
  const servername = settings.get('tls-server-name')?.values[0]
  if (servername !== undefined && /^[\d.]+$|:/.test(servername)) {
    throw new UsageError(`${settings.get('tls-server-name')!.source} must be a host name: addresses are not sent`)
  }
  const [cert, key] = [settings.get('tls-cert'), settings.get('tls-key')]
  if ((cert === undefined) !== (key === undefined)) {
    throw new UsageError(`${(cert ?? key)!.source} needs --tls-${cert === undefined ? 'cert' : 'key'}, too`)
  }
  const read = (old?: Files): Files => {
    const passphrase = settings.get('tls-passphrase-file')
    return {
      ca: pemIn(settings, 'tls-ca', old?.ca),
      cert: pemIn(settings, 'tls-cert', old?.cert),
      key: pemIn(settings, 'tls-key', old?.key),
      passphrase: old?.passphrase ?? (passphrase && textOf(passphrase, passphrase.values[0]!)),
      servername,
    }
  }
  const first = read()
  check(settings, first)
  return () => read(first)
}

/** The options of TLS, as they are in the files. */
type Files = { readonly [Name in 'ca' | 'cert' | 'key' | 'passphrase' | 'servername']: string | undefined }

/** A pipe, as of `<(…)`, can be read only once. */
function pemIn(settings: Settings, name: string, old: string | undefined): string | undefined {
  const file = settings.get(name)?.values[0]
  if (file === undefined) return undefined
  return old === undefined || isFile(file) ? contentOf(file) : old
}

function isFile(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false })?.isFile() === true
}

const CERTIFICATE = /-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----/
const PRIVATE_KEY = /-----BEGIN (?:\w+ )*PRIVATE KEY-----/

/** Node ignores a file with no certificate. Throws a UsageError that names the wrong file. */
function check(settings: Settings, { ca, cert, key, passphrase }: Files): void {
  const parts = [
    ['tls-ca', CERTIFICATE, ca, { ca }],
    ['tls-cert', CERTIFICATE, cert, { cert }],
    ['tls-key', PRIVATE_KEY, key, { key, passphrase }],
    ['tls-key', PRIVATE_KEY, key, { cert, key, passphrase }],
  ] as const
  for (const [name, mark, content, options] of parts) {
    if (content === undefined) continue
    const file = settings.get(name)!.values[0]!
    const kind = mark === CERTIFICATE ? 'certificate' : 'private key'
    if (!mark.test(content)) throw new UsageError(`${file} has no ${kind} in PEM`)
    try {
      createSecureContext(options)
    } catch (error) {
      // The message of Node may show a value.
      const { code = 'unknown' } = error as NodeJS.ErrnoException
      if (/MISMATCH/.test(code)) throw new UsageError(`${file} is not the key of the certificate (${code})`)
      if (/DECRYPT/.test(code)) throw new UsageError(`${file} cannot be decrypted: see --tls-passphrase-file (${code})`)
      throw new UsageError(`${file} has no ${kind} that can be read (${code})`)
    }
  }
}

/** Without the line end that editors add. */
function textOf({ isContent }: Setting, value: string): string {
  return (isContent ? value : contentOf(value)).replace(/\r?\n$/, '')
}

function contentOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new UsageError(`${file} cannot be read: ${(error as Error).message.split(', ')[0]}`)
  }
}
