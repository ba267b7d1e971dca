// What the options, the environment and the profile say of the connection, in this order.
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
  const given = givenSettings(args, environment)
  const profile = profileFor(given, environment)
  const all = CONNECTION_OPTIONS.map(({ name }) => [name, given.get(name) ?? profile?.get(name)] as const)
  return new Map(all.filter((entry): entry is [string, Setting] => entry[1] !== undefined))
}

/** What the options and the environment say. */
function givenSettings(args: Arguments, environment: Environment): Settings {
  const all = CONNECTION_OPTIONS.map(
    (option) => [option.name, optionOf(option, args) ?? variableOf(option, environment)] as const,
  )
  return new Map(all.filter((entry): entry is [string, Setting] => entry[1] !== undefined))
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

/** The profile that `zk profile use` has chosen is for its own servers: others do not get its credentials. */
function profileFor(given: Settings, environment: Environment): Settings | undefined {
  const named = given.get('profile')
  if (named === undefined && given.has('connect')) return undefined
  const profiles = readProfiles(environment)
  const name = named?.values[0] ?? profiles.current
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
