// Imports between the folders of a package go one way: down.
import { posix } from 'node:path'
import { describe, expect, test } from 'vitest'
import { floors, OTHERS } from './floors.ts'
import { importsOf } from './imports.ts'
import { sourcesIn } from './workspace.ts'

const MAX_FLOORS = 7

interface Import {
  readonly from: string
  readonly to: string
}

describe.each(Object.entries(floors))('%s', (source, order) => {
  const sources = sourcesIn(source)
  /** The folder of a file; '' for the roof. */
  const folderOf = (path: string) => {
    const [folder = '', ...rest] = posix.relative(source, path).split('/')
    return rest.length === 0 ? '' : folder
  }
  /** The folders that have their own place. */
  const named = order.flat().filter((folder) => folder !== OTHERS)
  const floorOf = (folder: string) => {
    if (folder === '') return order.length
    return order.findIndex((folders) => folders.includes(named.includes(folder) ? folder : OTHERS))
  }

  test('has each folder on one floor, and at most seven floors', () => {
    const folders = new Set(sources.map(folderOf).filter((folder) => folder !== ''))
    expect(named.filter((folder) => !folders.has(folder))).toEqual([])
    expect(new Set(named).size).toBe(named.length)
    expect([...folders].filter((folder) => floorOf(folder) === -1)).toEqual([])
    expect(order.length).toBeLessThanOrEqual(MAX_FLOORS)
  })

  test('imports from its own folder and from lower floors only', () => {
    const imports = sources.flatMap((path): Import[] =>
      importsOf(path)
        .filter((specifier) => specifier.startsWith('.'))
        .map((specifier) => ({ from: path, to: posix.join(posix.dirname(path), specifier) })),
    )
    const upward = imports.filter(({ from, to }) => {
      const [folder, other] = [folderOf(from), folderOf(to)]
      return folder !== other && floorOf(other) >= floorOf(folder)
    })
    expect(upward.map(({ from, to }) => `${from} imports ${to}`)).toEqual([])
  })
})
