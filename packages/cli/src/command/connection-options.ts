// The options of the connection, which every command has. Nothing of the client is imported here: the help starts without it.
import type { Option } from './options.ts'

export interface ConnectionOption extends Option {
  /** The variable of the environment that has the value, too. */
  readonly variable: string
  /** The variable that has the content of the file itself. */
  readonly contentVariable?: string
}

/** A profile has all of them but `profile`. */
export const CONNECTION_OPTIONS: readonly ConnectionOption[] = [
  { name: 'connect', short: 'c', value: 'HOST:PORT,…[/CHROOT]', variable: 'ZK_CONNECT', help: 'the servers' },
  { name: 'profile', value: 'PROFILE', variable: 'ZK_PROFILE', help: 'take what is not given from this profile' },
  {
    name: 'auth-file',
    value: 'FILE',
    isRepeatable: true,
    variable: 'ZK_AUTH_FILE',
    contentVariable: 'ZK_AUTH',
    help: 'credentials of the scheme digest: USER:PASSWORD; may be repeated',
  },
  {
    name: 'sasl-file',
    value: 'FILE',
    variable: 'ZK_SASL_FILE',
    contentVariable: 'ZK_SASL',
    help: 'the user of SASL (DIGEST-MD5): USER:PASSWORD',
  },
  { name: 'tls', variable: 'ZK_TLS', help: 'use TLS; the other options of TLS imply it' },
  { name: 'tls-ca', value: 'FILE', variable: 'ZK_TLS_CA', help: 'the authorities that may sign servers (PEM)' },
  { name: 'tls-cert', value: 'FILE', variable: 'ZK_TLS_CERT', help: 'the certificate of this client (PEM)' },
  { name: 'tls-key', value: 'FILE', variable: 'ZK_TLS_KEY', help: 'its key (PEM)' },
  {
    name: 'tls-passphrase-file',
    value: 'FILE',
    variable: 'ZK_TLS_PASSPHRASE_FILE',
    contentVariable: 'ZK_TLS_PASSPHRASE',
    help: 'what decrypts the key',
  },
  {
    name: 'tls-server-name',
    value: 'HOST',
    variable: 'ZK_TLS_SERVER_NAME',
    help: 'the name in the certificate of the servers (default: as in -c)',
  },
  { name: 'timeout', value: 'TIME', variable: 'ZK_TIMEOUT', help: 'how long to look for a server (default: 5s)' },
  {
    name: 'session-timeout',
    value: 'TIME',
    variable: 'ZK_SESSION_TIMEOUT',
    help: 'the session timeout to ask for (default: 12s)',
  },
]

export const COMMON_OPTIONS: readonly Option[] = [
  ...CONNECTION_OPTIONS,
  { name: 'help', short: 'h', help: 'print this help' },
]

/** In the help of every command, after its own notes. */
export const CONNECTION_NOTES = `A TIME is 500ms, 30s, 5m, 2h, 1d or a number of seconds. The options of the connection are also variables: --tls-ca is ZK_TLS_CA. ZK_AUTH, ZK_SASL and ZK_TLS_PASSPHRASE have
the content of a file itself. An option wins over --profile, that over a variable, and a variable over the profile that ZK_PROFILE or
'zk profile use' names. Without --profile, servers from -c or ZK_CONNECT are asked without a profile: its credentials are not for them.
`
