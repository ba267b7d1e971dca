import { expect, test } from 'vitest'
import { ServerLists } from '../src/session/servers/server-lists.ts'

const server = (host: string) => ({ host, port: 2181 })
const list = (hosts: string) => Array.from(hosts, server)
const fallbacks = (lists: ServerLists) => lists.fallbacks.map(({ host }) => host).join('')

test('ServerLists keeps a list that worked until a server of the new list has worked', () => {
  const lists = new ServerLists(list('ab'))
  lists.worked(server('a'))
  lists.replace(list('xy'), 'program')
  expect([lists.present, fallbacks(lists)]).toEqual([list('xy'), 'ab'])
  lists.worked(server('x'))
  expect(fallbacks(lists)).toBe('')
})

test('ServerLists keeps the list of the program in addition to any list of the ensemble', () => {
  const lists = new ServerLists(list('ab'))
  lists.worked(server('a'))
  for (const hosts of ['bx', 'y', 'z']) {
    lists.replace(list(hosts), 'ensemble')
    lists.worked(server(hosts.at(-1)!))
  }
  expect([lists.present, fallbacks(lists)]).toEqual([list('z'), 'ab'])
})

test('ServerLists keeps a list that worked after any number of lists that did not', () => {
  const lists = new ServerLists(list('a'))
  lists.worked(server('a'))
  lists.replace(list('bc'), 'ensemble')
  lists.worked(server('b'))
  for (const hosts of ['v', 'w', 'x']) lists.replace(list(hosts), 'ensemble')
  expect(fallbacks(lists)).toBe('bca')
  // A fallback works: the lists before its own are not needed, the newer ones may still come to work.
  lists.worked(server('c'))
  expect([lists.present, fallbacks(lists)]).toEqual([list('x'), 'bca'])
})

test('ServerLists keeps both lists of a program that changed its list before the first one was replaced', () => {
  const lists = new ServerLists(list('a'))
  lists.worked(server('a'))
  lists.replace(list('b'), 'program')
  lists.replace(list('c'), 'ensemble')
  expect(fallbacks(lists)).toBe('ba')
})
