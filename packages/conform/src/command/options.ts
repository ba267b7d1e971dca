// Reads the arguments of the command.
import { parseArgs } from 'node:util'
import { nearestOf } from '@zk/client/internal'
import { parseConnectString, type ServerAddress } from '@zk/wire'
import type { Profile } from '../clauses/index.ts'
import { parseAtoms } from '../fuzz/index.ts'
import { RELEASES, releaseNamed } from '../releases/index.ts'
import { UsageError } from './usage.ts'

export interface Options {
  readonly words: readonly string[]
  readonly profiles: ReadonlySet<Profile>
  readonly as: string | undefined
  readonly superUser: string | undefined
  /** A user of SASL DIGEST-MD5. */
  readonly saslUser: string | undefined
  readonly isHostile: boolean
  /** Whether the configuration of the ensemble may be changed. */
  readonly mayReconfigure: boolean
  /** Whether the servers have a read-only mode. */
  readonly hasReadOnlyMode: boolean
  readonly commands: Readonly<Partial<Record<Fault, string>>>
  /** In ms. */
  readonly timeout: number
  /** Whether the program that is judged is an adapter. */
  readonly isAdapter: boolean
  /** In which situations a client is judged; undefined for all. */
  readonly situations: readonly string[] | undefined
  /** The longest time of a situation, in ms. */
  readonly longest: number
  /** Random programs are played instead of the clauses; undefined if not. */
  readonly fuzz: FuzzChoice | undefined
  readonly files: Readonly<Partial<Record<FileOption, string>>>
  readonly hasColors: boolean | undefined
  readonly isHelp: boolean
}

export interface FuzzChoice {
  /** How many programs. */
  readonly count: number
  /** Of the first program; undefined for any. */
  readonly seed: number | undefined
  /** The atoms of the program that are played; undefined for all. */
  readonly only: ReadonlySet<number> | undefined
  /** A connect string; undefined for servers of our own. */
  readonly oracle: string | undefined
  /** Any release, such as `3.9.5`; undefined for the one that the servers say to be. */
  readonly as: string | undefined
}

const faults = ['kill', 'start', 'pause', 'resume'] as const
export type Fault = (typeof faults)[number]

const fileOptions = ['json', 'junit', 'markdown', 'html', 'baseline', 'write-baseline'] as const
export type FileOption = (typeof fileOptions)[number]

const profiles: readonly Profile[] = ['core', 'full', 'extended']
const text = { type: 'string' } as const
const flag = { type: 'boolean' } as const
const known = {
  profile: text,
  as: text,
  super: text,
  sasl: text,
  hostile: flag,
  reconfig: flag,
  'read-only': flag,
  timeout: text,
  fuzz: text,
  seed: text,
  only: text,
  oracle: text,
  adapter: flag,
  situations: text,
  for: text,
  'no-color': flag,
  help: { ...flag, short: 'h' },
  ...Object.fromEntries([...faults, ...fileOptions].map((name) => [name, text])),
} as const

/** Throws a UsageError. */
export function parseOptions(args: readonly string[]): Options {
  const { values, positionals } = parse(args)
  const value = (name: string): string | undefined => values[name] as string | undefined
  const among = <Name extends string>(names: readonly Name[]): Partial<Record<Name, string>> =>
    Object.fromEntries(names.flatMap((name) => (value(name) === undefined ? [] : [[name, value(name)]]))) as Partial<
      Record<Name, string>
    >
  const commands = among(faults)
  for (const [name, command] of Object.entries(commands)) {
    if (!command.includes('{n}')) throw new UsageError(`--${name} needs {n}, the number of the server, in its command`)
  }
  for (const [one, other] of [
    ['kill', 'start'],
    ['pause', 'resume'],
  ] as const) {
    if ((commands[one] === undefined) !== (commands[other] === undefined)) {
      throw new UsageError(`--${one} and --${other} belong together`)
    }
  }
  return {
    words: positionals,
    profiles: profilesOf(value('profile')),
    as: value('fuzz') === undefined ? releaseOf(value('as')) : undefined,
    superUser: userOf('super', value('super')),
    saslUser: userOf('sasl', value('sasl')),
    isHostile: values['hostile'] === true,
    mayReconfigure: values['reconfig'] === true,
    hasReadOnlyMode: values['read-only'] === true,
    commands,
    timeout: secondsOf('timeout', value('timeout') ?? '30'),
    isAdapter: values['adapter'] === true,
    situations: value('situations')
      ?.split(',')
      .map((name) => name.trim()),
    longest: secondsOf('for', value('for')?.replace(/s$/, '') ?? '60'),
    fuzz: fuzzOf(values as Readonly<Record<string, string | undefined>>),
    files: among(fileOptions),
    hasColors: values['no-color'] === true ? false : undefined,
    isHelp: values['help'] === true,
  }
}

/** `HOST:PORT,HOST:PORT/NODE`. Throws a UsageError. */
export function parseServers(connectString: string): {
  readonly servers: readonly ServerAddress[]
  readonly base: string
} {
  try {
    const { servers, chroot } = parseConnectString(connectString)
    return { servers, base: chroot === '/' ? '' : (chroot ?? '') }
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

function parse(args: readonly string[]): {
  readonly values: Readonly<Record<string, string | boolean | undefined>>
  readonly positionals: readonly string[]
} {
  try {
    return parseArgs({ args: [...args], options: known, allowPositionals: true })
  } catch (error) {
    const [message = ''] = (error as Error).message.split('. ')
    const [, unknown] = /^Unknown option '--?([^']*)'/.exec(message) ?? []
    if (unknown === undefined) throw new UsageError(message)
    const nearest = nearestOf(unknown, Object.keys(known))
    throw new UsageError(
      `there is no option --${unknown}${nearest === undefined ? '' : `: did you mean --${nearest}?`}`,
    )
  }
}

function profilesOf(list: string | undefined): ReadonlySet<Profile> {
  if (list === undefined) return new Set(profiles)
  const names = list.split(',').map((name) => name.trim())
  for (const name of names) {
    if (!(profiles as readonly string[]).includes(name)) {
      throw new UsageError(`there is no profile '${name}': it is one of ${profiles.join(', ')}`)
    }
  }
  return new Set(names as Profile[])
}

function releaseOf(name: string | undefined): string | undefined {
  if (name === undefined) return undefined
  const release = releaseNamed(name)
  if (release === undefined) throw new UsageError(`--as ${name}: it is one of ${RELEASES.join(', ')}, or 3.5 to 3.9`)
  return release
}

function userOf(option: string, user: string | undefined): string | undefined {
  if (user === undefined || /^[^:]+:./.test(user)) return user
  throw new UsageError(`--${option} needs a name and a password: super:secret`)
}

/** What is about clauses, or about clients. */
const notWithFuzz = ['profile', 'sasl', 'reconfig', 'read-only', 'adapter', 'situations', 'for', ...faults]
const ofFuzz = ['seed', 'only', 'oracle']
const LARGEST_SEED = 2 ** 31 - 1
const MOST_PROGRAMS = 1_000_000

function fuzzOf(values: Readonly<Record<string, string | undefined>>): FuzzChoice | undefined {
  const { fuzz, seed, only, oracle, as } = values
  if (fuzz === undefined) {
    const lonely = ofFuzz.find((name) => values[name] !== undefined)
    if (lonely !== undefined) throw new UsageError(`--${lonely} needs --fuzz N, the number of random programs`)
    return undefined
  }
  const unfit = notWithFuzz.find((name) => values[name] !== undefined)
  if (unfit !== undefined) throw new UsageError(`--${unfit} does not go with --fuzz, which plays random programs only`)
  const atoms = only === undefined ? undefined : parseAtoms(only)
  if (only !== undefined && atoms === undefined)
    throw new UsageError(`--only needs numbers such as 0-2,17, not '${only}'`)
  if (only !== undefined && (seed === undefined || fuzz !== '1')) {
    throw new UsageError('--only is about one program: it needs --fuzz 1 and --seed')
  }
  return {
    count: integerOf('fuzz', fuzz, 1, MOST_PROGRAMS),
    seed: seed === undefined ? undefined : integerOf('seed', seed, 0, LARGEST_SEED),
    only: atoms,
    oracle,
    as: as === undefined || isKnownLine(as) ? as : releaseOf(as),
  }
}

/** Whether our own servers can be of this release. */
export function isKnownLine(release: string): boolean {
  return /^3\.[5-9]\.\d+$/.test(release)
}

function integerOf(option: string, text: string, least: number, most: number): number {
  const value = Number(text)
  if (/^\d+$/.test(text) && value >= least && value <= most) return value
  throw new UsageError(`--${option} must be an integer from ${least} to ${most}, not '${text}'`)
}

function secondsOf(option: string, seconds: string): number {
  const value = Number(seconds)
  if (!(value > 0)) throw new UsageError(`--${option} must be a number of seconds above 0, not '${seconds}'`)
  return value * 1_000
}
