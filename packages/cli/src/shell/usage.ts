// What the words of a command are, from the line that its help shows.
import type { Option } from '../command/options.ts'

/** A path of a node, the name of a profile, a choice, or something else. */
export type Kind = 'PATH' | 'PROFILE' | 'FILE' | 'OTHER' | readonly string[]

/** The kind of the word at this place; undefined if no word belongs there. */
export function kindAt(usage: string, place: number): Kind | undefined {
  const [before = ''] = usage.split(/ ?(?:\[options\]|-- )/)
  const names = before.split(' ').filter((name) => name !== '')
  const name = names[place] ?? names.filter((name) => name.includes('…')).at(-1)
  return name === undefined ? undefined : kindOf(name.replace(/[[\]…]/g, ''))
}

/** The kind of the value of an option. */
export function kindOfValue({ value = '', choices }: Option): Kind {
  return choices ?? kindOf(value)
}

function kindOf(name: string): Kind {
  if (/^FILE\b/.test(name)) return 'FILE'
  if (PATHS.includes(name)) return 'PATH'
  return name === 'PROFILE' ? name : /^[a-z]/.test(name) ? name.split('|') : 'OTHER'
}

/** The names of paths in lines of usage. */
const PATHS = ['PATH', 'NODE', 'FROM', 'TO', 'A', 'B']
