import { expect, test } from 'vitest'
import { parseConnectString } from '../src/index.ts'
import { lines, rows } from './vectors/lines.ts'

/** What Java lets through by accident. */
const REFUSED_BY_US_ALONE: Readonly<Record<string, string>> = {
  '::1': 'a bare IPv6 address: Java takes the host ":" and the port 1',
  '/c': 'no server: Java has nowhere to connect to',
  'h:0': 'port 0',
  'h1;h2': 'a semicolon: Java takes it for one host',
}

const parsed = lines('connectString').flatMap((line) => (line.ok && !(line.in in REFUSED_BY_US_ALONE) ? [line] : []))
const refused = lines('connectString').filter(({ ok }) => !ok)

test('5 strings are parsed, 3 refused by Java too, 4 refused by us alone', () => {
  expect([parsed.length, refused.length, Object.keys(REFUSED_BY_US_ALONE).length]).toEqual([5, 3, 4])
})

test.each(rows(parsed, (line) => line.in))(
  'parseConnectString reads as Java does: %s',
  (_title, { in: text, hosts, chroot }) => {
    const servers = hosts.map(([host, port]) => ({ host, port }))
    expect(parseConnectString(text)).toEqual({ servers, chroot: chroot ?? '/' })
  },
)

test.each(rows(refused, (line) => line.in))('parseConnectString refuses as Java does: %s', (_title, { in: text }) => {
  expect(() => parseConnectString(text)).toThrow(TypeError)
})

test.each(Object.entries(REFUSED_BY_US_ALONE))('parseConnectString refuses "%s": %s', (text) => {
  expect(lines('connectString').find((line) => line.in === text)?.ok).toBe(true)
  expect(() => parseConnectString(text)).toThrow(TypeError)
})
