// The file of profiles: named sets of connection options. It has the names of files with passwords, and no password.
import { existsSync, mkdirSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, isAbsolute, join } from 'node:path'
import { CONNECTION_OPTIONS } from './connection-options.ts'
import { UnknownNameError, UsageError } from './options.ts'

/** The options of the connection. A flag is `true`, an option that may be repeated a list. */
export type Profile = Readonly<Record<string, string | true | readonly string[]>>

export interface Profiles {
  readonly version: 1
  /** The profile for commands that name neither servers nor a profile. */
  readonly current?: string | undefined
  readonly profiles: Readonly<Record<string, Profile>>
}

type Environment = Readonly<Record<string, string | undefined>>

function profilesFile(environment: Environment): string {
  return join(folderOf(environment, 'XDG_CONFIG_HOME', '.config'), 'zk', 'profiles.json')
}

/** A folder of the XDG Base Directory Specification, by which a relative path counts as none. */
export function folderOf(environment: Environment, variable: string, below: string): string {
  const folder = environment[variable] ?? ''
  return isAbsolute(folder) ? folder : join(homedir(), below)
}

/** Without a file there are no profiles. Throws a UsageError if it cannot be read. */
export function readProfiles(environment: Environment): Profiles {
  const file = profilesFile(environment)
  let text = ''
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return { version: 1, profiles: {} }
    throw new UsageError(`the profiles cannot be read: ${message}`)
  }
  const mistake = mistakeIn(parsed(text))
  if (mistake !== undefined) throw new UsageError(`${file} is no file of profiles: ${mistake}`)
  return JSON.parse(text) as Profiles
}

/** Throws a UsageError if there is no such profile. */
export function profileOf({ profiles }: Profiles, name: string): Profile {
  const profile = Object.hasOwn(profiles, name) ? profiles[name] : undefined
  if (profile === undefined) throw new UnknownNameError(`there is no profile ${name}`, name, Object.keys(profiles))
  return profile
}

/** Throws a UsageError. */
export function writeProfiles(profiles: Profiles, environment: Environment): void {
  const file = profilesFile(environment)
  try {
    makeFolder(dirname(file))
    replaceFile(targetOf(file), `${JSON.stringify(profiles, undefined, 2)}\n`)
  } catch (error) {
    throw new UsageError(`the profiles cannot be written: ${(error as Error).message}`)
  }
}

/** With those above it that are missing. Below /proc, `recursive` of Node never ends. */
export function makeFolder(folder: string): void {
  if (existsSync(folder)) return
  makeFolder(dirname(folder))
  mkdirSync(folder, { mode: 0o700 })
}

/** A reader finds the old file or the new one, whole. */
function replaceFile(file: string, text: string): void {
  const draft = `${file}.${process.pid}.new`
  try {
    writeFileSync(draft, text, { mode: 0o600, flag: 'wx', flush: true })
    renameSync(draft, file)
  } catch (error) {
    rmSync(draft, { force: true })
    throw error
  }
}

/** The file itself, if a link leads to it: the link stays. */
function targetOf(file: string): string {
  try {
    return realpathSync(file)
  } catch {
    return file
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** What is wrong in a file that somebody has edited; undefined if nothing is. */
function mistakeIn(content: unknown): string | undefined {
  if (!isObject(content)) return 'it is no JSON object'
  if (content['version'] !== 1) return 'its version is not 1'
  const { current, profiles } = content
  if (!isObject(profiles)) return 'it has no object of profiles'
  if (current !== undefined && typeof current !== 'string') return 'current is no name'
  for (const [name, profile] of Object.entries(profiles)) {
    if (!isObject(profile)) return `${name} is no object`
    for (const [key, value] of Object.entries(profile)) {
      const option = CONNECTION_OPTIONS.find((option) => option.name === key && key !== 'profile')
      if (option === undefined) return `${name} has ${key}, which is no option of the connection`
      if (option.value === undefined ? value !== true : ![value].flat().every((each) => typeof each === 'string')) {
        return `${key} of ${name} has a wrong value`
      }
    }
  }
  return undefined
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
