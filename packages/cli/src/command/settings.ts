// What the options, a profile that is named by an option, the environment, and any other profile say of the connection, in this order.
import { CONNECTION_OPTIONS, type ConnectionOption } from './connection-options.ts'
import { type Arguments, UsageError } from './options.ts'
import { type Profile, profileOf, readProfiles } from './profiles.ts'

export type Environment = Readonly<Record<string, string | undefined>>

export interface Setting {
  readonly values: readonly string[]
  /** Who says so: an option, a variable or a profile. */
  readonly source: string
  /** The values are not the names of files, but what would be in the files. */
  readonly isContent: boolean
}

export type Settings = ReadonlyMap<string, Setting>

/** Throws a UsageError. */
export function settingsOf(args: Arguments, environment: Environment): Settings {
  const isProfileNamed = args.text('profile') !== undefined
  const profile = profileFor(args, environment)
  const settings = CONNECTION_OPTIONS.map((option) => {
    const inProfile = profile?.get(option.name)
    const setting =
      optionOf(option, args) ?? (isProfileNamed ? inProfile : undefined) ?? variableOf(option, environment)
    return [option.name, setting ?? inProfile] as const
  })
  return new Map(settings.filter((entry): entry is [string, Setting] => entry[1] !== undefined))
}

function optionOf({ name }: ConnectionOption, args: Arguments): Setting | undefined {
  const values = args.has(name) ? ['true'] : args.texts(name)
  return values.length === 0 ? undefined : { values, source: `--${name}`, isContent: false }
}

/** An empty variable is like none. */
function variableOf({ variable, contentVariable, value }: ConnectionOption, environment: Environment) {
  for (const name of [variable, contentVariable]) {
    const text = name === undefined ? '' : (environment[name] ?? '')
    if (name === undefined || text === '') continue
    if (value !== undefined) return { values: [text], source: name, isContent: name === contentVariable }
    if (/^(1|true|yes|on)$/i.test(text)) return { values: ['true'], source: name, isContent: false }
    if (!/^(0|false|no|off)$/i.test(text)) throw new UsageError(`${name} is 1 or 0, not '${text}'`)
  }
  return undefined
}

/** The profile of a variable, or of `zk profile use`, is for its own servers: others do not get its credentials. */
function profileFor(args: Arguments, environment: Environment): Settings | undefined {
  const named = args.text('profile')
  if (named === undefined && (args.text('connect') ?? environment['ZK_CONNECT'] ?? '') !== '') return undefined
  const profiles = readProfiles(environment)
  const name = named ?? (environment['ZK_PROFILE'] || profiles.current)
  return name === undefined ? undefined : settingsIn(name, profileOf(profiles, name))
}

function settingsIn(name: string, profile: Profile): Settings {
  return new Map(
    Object.entries(profile).map(([option, value]) => [
      option,
      { values: [value].flat().map(String), source: `${option} of the profile ${name}`, isContent: false },
    ]),
  )
}
