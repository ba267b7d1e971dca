import { describe, expect, test } from 'vitest'
import {
  AddWatchMode,
  CreateMode,
  ErrorCode,
  errorName,
  eventName,
  EventType,
  KeeperState,
  OpCode,
  Perms,
  WatcherType,
} from '../src/index.ts'
import { lines } from './vectors/lines.ts'

/** Ours by group. Java's error names are ours in capitals. `later` and `elsewhere` are not in Java 3.8.0. */
const GROUPS = {
  error: { ours: inCapitals(ErrorCode), elsewhere: ['INVALIDSTATE', 'SSLCONNECTIONERROR', 'CLOSING', 'NOTHING'] },
  opcode: { ours: OpCode },
  perm: { ours: Perms },
  createMode: { ours: CreateMode },
  eventType: { ours: EventType },
  keeperState: { ours: KeeperState },
  watcherType: { ours: WatcherType, later: ['Persistent', 'PersistentRecursive'] },
  addWatchMode: { ours: AddWatchMode },
} as const satisfies Record<string, Group>

interface Group {
  readonly ours: Readonly<Record<string, number>>
  /** Constants of a later release of Java. */
  readonly later?: readonly string[]
  /** Constants of the C client. */
  readonly elsewhere?: readonly string[]
}

test('every constant of the vectors belongs to a group of ours', () => {
  expect(new Set(lines('const').map(({ group }) => group))).toEqual(new Set(Object.keys(GROUPS)))
})

describe.each(Object.entries<Group>(GROUPS))('%s', (group, { ours, later = [], elsewhere = [] }) => {
  const javas = lines('const').filter((line) => line.group === group)

  test.each(javas.map(({ name, value }) => [name, value] as const))('%s is %i', (name, value) => {
    expect(ours[name]).toBe(value)
  })

  test('has no name that Java 3.8.0 has not, but for those of later releases and of the C client', () => {
    expect(Object.keys(ours).toSorted()).toEqual([...javas.map(({ name }) => name), ...later, ...elsewhere].toSorted())
  })
})

test.each(Object.entries(ErrorCode))('errorName gives the name of %s', (name, code) => {
  expect(errorName(code)).toBe(name)
})

test.each(Object.entries(EventType))('eventName gives the name of %s', (name, type) => {
  expect(eventName(type)).toBe(name)
})

test('errorName and eventName return undefined for an unassigned number (W13)', () => {
  expect([errorName(-126), errorName(99), eventName(99), eventName(-2)]).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ])
})

function inCapitals(codes: Readonly<Record<string, number>>): Readonly<Record<string, number>> {
  return Object.fromEntries(Object.entries(codes).map(([name, code]) => [name.toUpperCase(), code]))
}
