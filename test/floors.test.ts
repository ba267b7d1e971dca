// Imports between the folders of a package go one way: down.
import { posix } from 'node:path'
import { describe, expect, test } from 'vitest'
import { floors } from './floors.ts'
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
  const floorOf = (folder: string) =>
    folder === '' ? order.length : order.findIndex((folders) => folders.includes(folder))

  test('has each folder on one floor, and at most seven floors', () => {
    const folders = new Set(sources.map(folderOf).filter((folder) => folder !== ''))
    expect(order.flat().toSorted()).toEqual([...folders].toSorted())
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
