// ACLs as text, `scheme:id:perms`, and `zk acl`.
import { type ACL, KeeperError, Perms, type ZooKeeper } from '@zk/client'
import { printable } from '@zk/client/internal'
import type { Command } from '../command/command.ts'
import { withClient } from '../command/connection.ts'
import { Failures } from '../command/failure.ts'
import { EXIT } from '../command/exit.ts'
import { UsageError } from '../command/options.ts'
import { print, printJson, say } from '../command/output.ts'
import { ahead, untilAnswered } from './ahead.ts'
import { checkConfirmable, confirm, YES } from '../command/confirm.ts'
import { checkPath } from './path.ts'
import { statDocument } from './shown.ts'
import { walkAll } from './walking.ts'

const RIGHTS = { c: Perms.CREATE, d: Perms.DELETE, r: Perms.READ, w: Perms.WRITE, a: Perms.ADMIN } as const

/** The id may contain colons and commas: those of x509 are names such as `CN=app,O=shop`. */
const ENTRY = /^([^\s:,]+):(.*):([cdrwa]*)$/s

/** The entries, each as text. */
export function aclTexts(acl: readonly ACL[]): readonly string[] {
  return acl.map(({ perms, id: { scheme, id } }) => {
    const letters = Object.entries(RIGHTS).filter(([, right]) => (perms & right) !== 0)
    return `${scheme}:${id}:${letters.map(([letter]) => letter).join('')}`
  })
}

/** Throws a TypeError, which does not repeat the text: it may have the digest of a password. */
export function aclEntry(text: string): ACL {
  const [, scheme, id, letters] = ENTRY.exec(text) ?? []
  if (scheme === undefined || id === undefined || letters === undefined) {
    throw new TypeError('an ACL is SCHEME:ID:PERMS with perms of the letters cdrwa, such as world:anyone:r')
  }
  let perms = 0
  for (const letter of letters) perms |= RIGHTS[letter as keyof typeof RIGHTS]
  return { perms, id: { scheme, id } }
}

/** The entries of all words, which may be separated by commas, too. Throws a UsageError. */
export function aclOf(words: readonly string[]): readonly ACL[] {
  try {
    const entries = words.flatMap((word) => word.split(/(?<=:[cdrwa]+),/)).map(aclEntry)
    if (entries.some(({ perms }) => perms === 0))
      throw new TypeError('an entry of an ACL must grant at least one right')
    // The hash of SHA-1 in base64. A password in its place would lock everybody out.
    if (entries.some(({ id: { scheme, id } }) => scheme === 'digest' && !/^[^:]+:[A-Za-z0-9+/]{27}=$/.test(id)))
      throw new TypeError('the id of an ACL of the scheme digest is USER:HASH, and not a password: see zk acl --help')
    return entries
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

/** Servers hide the digest from a client without the right ADMIN: they show `x` in its place (ZOOKEEPER-1392). */
export function hidesDigest(acl: readonly string[]): boolean {
  return acl.some((entry) => /^digest:[^:]*:x:/.test(entry))
}

export const ACL_COMMAND: Command = {
  usage: 'PATH [ACL…] [options]',
  options: [
    { name: 'recursive', short: 'r', help: 'also set the ACL of all nodes below; asks first' },
    YES,
    { name: 'version', value: 'N', help: 'only if the ACL has this version (aversion)' },
    { name: 'json', help: 'print JSON' },
  ],
  notes: `Without an ACL it prints that of the node, an entry a line. With one it replaces the whole ACL. An entry is SCHEME:ID:PERMS, with
perms of c (create), d (delete children), r (read), w (write), a (set the ACL). An id of the scheme digest is USER:HASH, with the hash of the
password and not the password (printf %s USER:PASSWORD | openssl sha1 -binary | base64); auth::cdrwa stands for the credentials that zk uses. Nodes do not inherit an ACL.

Examples:
  zk acl /config
  zk acl /config world:anyone:r auth::cdrwa
  zk acl -r /config world:anyone:r digest:ops:bjkZ9W+M82HUZ9xb8/Oy4cmJGfg=:cdrwa --yes
`,
  run: async (args) => {
    const [path, ...words] = args.words
    if (path === undefined) throw new UsageError('name a path: zk acl PATH [ACL…]')
    checkPath(path)
    const acl = aclOf(words)
    const version = args.wholeNumber('version', 0)
    const isRecursive = args.has('recursive')
    if (acl.length === 0 && (isRecursive || version !== undefined)) {
      throw new UsageError('name the ACL to set: zk acl PATH ACL…')
    }
    if (isRecursive && version !== undefined) throw new UsageError('--version does not go with -r')
    if (isRecursive) {
      checkConfirmable(args, 'acl -r')
      if (!(await confirm(args, `Set the ACL of ${path} and all nodes below it?`))) return EXIT.notDone
    }
    return withClient(args, async (zk) => {
      if (isRecursive) return setAll(zk, path, acl, args.has('json'))
      if (acl.length > 0) {
        const stat = await zk.setACL(path, acl, version === undefined ? {} : { version })
        if (args.has('json')) printJson({ path, acl: aclTexts(acl), stat: statDocument(stat) })
        return EXIT.done
      }
      const read = await zk.getACL(path)
      const texts = aclTexts(read.acl)
      if (args.has('json')) printJson({ path, acl: texts, stat: statDocument(read.stat) })
      else print(texts.map((text) => `${printable(text)}\n`).join(''))
      if (hidesDigest(texts)) say('x stands for a digest that is hidden: the right ADMIN is needed to read it')
      return EXIT.done
    })
  },
}

async function setAll(zk: ZooKeeper, root: string, acl: readonly ACL[], isJson: boolean): Promise<number> {
  const failures = new Failures()
  const outcomes = ahead(
    walkAll(zk, root, { failures }),
    ({ path }) =>
      untilAnswered(() => zk.setACL(path, acl)).then(
        () => undefined,
        (error: unknown) => error,
      ),
    () => 0,
  )
  let set = 0
  for await (const error of outcomes) {
    if (error === undefined) set++
    else if (!KeeperError.is(error, 'NoNode')) failures.add(error)
  }
  if (isJson) printJson({ path: root, set })
  return failures.code
}
