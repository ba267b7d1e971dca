// `zk profile`: named sets of connection options.
import { resolve } from 'node:path'
import { parseConnectString } from '@zk/wire'
import type { Command } from '../command/command.ts'
import { CONNECTION_OPTIONS } from '../command/connection-options.ts'
import { EXIT } from '../command/exit.ts'
import { type Arguments, durationOf, UsageError } from '../command/options.ts'
import { print, printJson } from '../command/output.ts'
import { type Profile, profileOf, type Profiles, readProfiles, writeProfiles } from '../command/profiles.ts'

const USAGE = 'zk profile add|list|show|remove|use [PROFILE]'

export const PROFILE: Command = {
  usage: 'add|list|show|remove|use [PROFILE] [options]',
  options: [{ name: 'json', help: 'print JSON (list, show)' }],
  notes: `A profile is a name for options of the connection. add stores those that are given; files are stored by their names, so that
no password is. use makes it the profile of commands without -c, --profile, ZK_CONNECT and ZK_PROFILE; use without a name ends that. list
marks it with *. The file is zk/profiles.json below XDG_CONFIG_HOME (default: ~/.config).

Example:
  zk profile add prod -c zk1:2281,zk2:2281/shop --tls-ca ca.pem --sasl-file ~/.zk-prod
  zk ls / --profile prod
`,
  run: async (args) => {
    const [action = '', name, ...more] = args.words
    const act = Object.hasOwn(ACTIONS, action) ? ACTIONS[action] : undefined
    if (act === undefined || more.length > 0) throw new UsageError(`say what to do: ${USAGE}`)
    const isNameless = action === 'list' || (action === 'use' && name === undefined)
    if ((name === undefined) !== isNameless) {
      throw new UsageError(name === undefined ? `name the profile: zk profile ${action} PROFILE` : 'list takes no name')
    }
    act(readProfiles(process.env), name ?? '', args)
    return EXIT.done
  },
}

const ACTIONS: Readonly<Record<string, (profiles: Profiles, name: string, args: Arguments) => void>> = {
  add: (all, name, args) => {
    if (!/^[\w.][\w.@-]*$/.test(name)) throw new UsageError(`a name has letters, digits and _ . - @, unlike '${name}'`)
    if (Object.hasOwn(all.profiles, name)) {
      throw new UsageError(`there is a profile ${name} already: zk profile remove ${name}`)
    }
    writeProfiles({ ...all, profiles: { ...all.profiles, [name]: profileIn(args) } }, process.env)
  },

  list: (all, _name, args) => {
    const names = Object.keys(all.profiles).sort()
    if (args.has('json')) return printJson({ current: all.current ?? null, profiles: all.profiles })
    const width = Math.max(0, ...names.map((name) => name.length))
    for (const name of names) {
      const { connect = '' } = all.profiles[name]!
      print(`${name === all.current ? '*' : ' '} ${name.padEnd(width)}  ${String(connect)}\n`)
    }
  },

  show: (all, name, args) => {
    const options = profileOf(all, name)
    if (args.has('json')) return printJson({ name, options })
    for (const [option, value] of Object.entries(options)) {
      for (const each of [value].flat()) print(each === true ? `--${option}\n` : `--${option} ${each}\n`)
    }
  },

  remove: (all, name) => {
    profileOf(all, name)
    const { [name]: _removed, ...profiles } = all.profiles
    writeProfiles({ ...all, current: all.current === name ? undefined : all.current, profiles }, process.env)
  },

  use: (all, name) => {
    if (name !== '') profileOf(all, name)
    writeProfiles({ ...all, current: name === '' ? undefined : name }, process.env)
  },
}

/** Only what is on the command line: a profile that took a variable by chance would surprise. */
function profileIn(args: Arguments): Profile {
  if (args.text('profile') !== undefined)
    throw new UsageError('a profile does not refer to another: leave out --profile')
  const connect = args.text('connect')
  if (connect === undefined) throw new UsageError('name the servers with -c, such as: zk profile add prod -c zk1:2181')
  try {
    parseConnectString(connect)
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
  return Object.fromEntries(
    CONNECTION_OPTIONS.flatMap(({ name, value, isRepeatable }): [string, Profile[string]][] => {
      if (args.has(name)) return [[name, true]]
      if (value === 'TIME') for (const text of args.texts(name)) durationOf(`--${name}`, text)
      // The profile is for every folder.
      const values = args.texts(name).map((text) => (value === 'FILE' ? resolve(text) : text))
      return values.length === 0 ? [] : [[name, isRepeatable ? values : values.at(-1)!]]
    }),
  )
}
