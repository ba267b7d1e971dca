import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { COMMON_OPTIONS } from '../src/command/connection-options.ts'
import { readArguments, UsageError } from '../src/command/options.ts'
import { type Profiles, readProfiles, writeProfiles } from '../src/command/profiles.ts'
import { settingsOf } from '../src/command/settings.ts'

let folder: string
const environment = (more: Record<string, string> = {}) => ({ XDG_CONFIG_HOME: folder, ...more })

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'zk-settings-'))
})

afterEach(() => rmSync(folder, { recursive: true }))

const PROFILES: Profiles = {
  version: 1,
  current: 'prod',
  profiles: {
    prod: { connect: 'prod:2181', 'auth-file': ['/a', '/b'], tls: true },
    test: { connect: 'test:2181', timeout: '1s' },
  },
}

function values(words: string[], variables: Record<string, string> = {}): Record<string, readonly string[]> {
  const settings = settingsOf(readArguments(words, COMMON_OPTIONS), environment(variables))
  return Object.fromEntries([...settings].map(([name, { values }]) => [name, values]))
}

test('settingsOf takes an option before a named profile, that before a variable, and a variable before any other profile', () => {
  writeProfiles(PROFILES, environment())
  expect(values(['--profile', 'test', '--timeout', '3s'])).toEqual({
    connect: ['test:2181'],
    profile: ['test'],
    timeout: ['3s'],
  })
  expect(values(['--profile', 'prod'], { ZK_CONNECT: 'other:1', ZK_AUTH_FILE: '/c', ZK_PROFILE: 'test' })).toEqual({
    connect: ['prod:2181'],
    profile: ['prod'],
    'auth-file': ['/a', '/b'],
    tls: ['true'],
  })
  expect(values(['-c', 'mine:1'], { ZK_CONNECT: 'other:1', ZK_TLS: '0', ZK_AUTH: '' })).toEqual({ connect: ['mine:1'] })
})

test('settingsOf takes the current profile only for its own servers', () => {
  writeProfiles(PROFILES, environment())
  expect(values([])).toEqual({ connect: ['prod:2181'], 'auth-file': ['/a', '/b'], tls: ['true'] })
  expect(values([], { ZK_CONNECT: 'other:1' })).toEqual({ connect: ['other:1'] })
  expect(values([], { ZK_PROFILE: 'test', ZK_TIMEOUT: '4s' })).toEqual({
    connect: ['test:2181'],
    profile: ['test'],
    timeout: ['4s'],
  })
  expect(values([], { ZK_PROFILE: 'test', ZK_CONNECT: 'other:1' })).toEqual({ connect: ['other:1'], profile: ['test'] })
})

test('settingsOf refuses a profile that does not exist, and a flag that is neither on nor off', () => {
  writeProfiles(PROFILES, environment())
  expect(() => values(['--profile', 'prd'])).toThrow('there is no profile prd')
  expect(() => values(['--profile', 'toString'])).toThrow('there is no profile toString')
  expect(() => values([], { ZK_TLS: 'maybe' })).toThrow("ZK_TLS is 1 or 0, not 'maybe'")
})

test('writeProfiles leaves one file that only its owner reads, and follows a link', () => {
  mkdirSync(join(folder, 'zk'))
  writeFileSync(join(folder, 'elsewhere.json'), '{"version":1,"profiles":{}}')
  symlinkSync('../elsewhere.json', join(folder, 'zk/profiles.json'))
  writeProfiles(PROFILES, environment())
  expect(readProfiles(environment())).toEqual(PROFILES)
  expect(readdirSync(folder, { recursive: true })).toHaveLength(3)
  expect(statSync(join(folder, 'elsewhere.json')).mode & 0o777).toBe(0o600)
})

test.each([
  ['not json', 'it is no JSON object'],
  ['{"version":2,"profiles":{}}', 'its version is not 1'],
  ['{"version":1}', 'it has no object of profiles'],
  ['{"version":1,"profiles":{"a":{"connect":1}}}', 'connect of a has a wrong value'],
  ['{"version":1,"profiles":{"a":{"password":"x"}}}', 'a has password, which is no option of the connection'],
  ['{"version":1,"profiles":{"a":{"tls":"yes"}}}', 'tls of a has a wrong value'],
])('readProfiles refuses %s', (text, mistake) => {
  mkdirSync(join(folder, 'zk'))
  writeFileSync(join(folder, 'zk/profiles.json'), text)
  expect(() => readProfiles(environment())).toThrow(
    new UsageError(`${folder}/zk/profiles.json is no file of profiles: ${mistake}`),
  )
})

test('profiles that cannot be read or written are an error, and a missing file is none', () => {
  expect(readProfiles(environment()).profiles).toEqual({})
  writeFileSync(join(folder, 'zk'), 'a file where the folder should be')
  expect(readProfiles(environment()).profiles).toEqual({})
  expect(() => writeProfiles(PROFILES, environment())).toThrow('the profiles cannot be written')
  rmSync(join(folder, 'zk'))
  mkdirSync(join(folder, 'zk/profiles.json'), { recursive: true })
  chmodSync(folder, 0o700)
  expect(() => readProfiles(environment())).toThrow('the profiles cannot be read')
})
