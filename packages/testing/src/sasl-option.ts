import { checkKeys, show } from './connection/fault.ts'
import type { SaslSettings } from './connection/sasl-server.ts'

/** The users in the JAAS configuration of the servers, for SASL DIGEST-MD5. */
export interface SaslOptions {
  /** The password of each user: `{ bob: 'secret' }`. */
  users: Readonly<Record<string, string>>
  /** Which of these users may do everything (zookeeper.superUser). @default none */
  superUser?: string | undefined
  /**
   * Whether clients are served only after they have proved their identity by SASL. Other clients are answered with
   * SessionClosedRequireSaslAuth, and lose their connection (zookeeper.sessionRequireClientSASLAuth). @default false
   */
  required?: boolean | undefined
}

/** Checks the option `sasl`. Throws a `TypeError` that names the wrong part, and never shows a password. */
export function checkSasl(sasl: SaslOptions | undefined): SaslSettings | undefined {
  if (sasl === undefined) return undefined
  checkKeys('sasl', sasl, ['users', 'superUser', 'required'])
  const { users, superUser, required = false } = sasl
  if (typeof users !== 'object' || users === null) {
    throw new TypeError(`sasl.users must be passwords by the names of their users, such as { bob: 'secret' }`)
  }
  const all = Object.entries<unknown>(users)
  for (const [name, password] of all) {
    // ZooKeeper takes the part after `/` or `@` for a host or a realm of Kerberos.
    if (name === '' || /[/@]/.test(name))
      throw new TypeError(`sasl.users: ${show(name)} must be a name without / and @`)
    if (typeof password !== 'string' || password === '') {
      throw new TypeError(`sasl.users: the password of ${show(name)} must be a string, and not empty`)
    }
  }
  if (superUser !== undefined && !Object.hasOwn(users, superUser)) {
    throw new TypeError(`sasl.superUser must be one of sasl.users, not ${show(superUser)}`)
  }
  if (typeof required !== 'boolean') throw new TypeError(`sasl.required must be true or false, not ${show(required)}`)
  return { users: new Map(all as [string, string][]), superUser, isRequired: required }
}
