import { parseArgs } from 'node:util'
import type { DrawOptions } from '../scenario/draw.ts'
import type { FaultType } from '../scenario/fault.ts'
import { everyFault, everyFaultOfCalls } from '../scenario/fault-kinds.ts'
import { workloadNames } from '../recipes/index.ts'

const flags = {
  seeds: { type: 'string', default: '1000' },
  from: { type: 'string', default: '1' },
  recipe: { type: 'string' },
  clients: { type: 'string' },
  servers: { type: 'string' },
  faults: { type: 'string', default: 'every' },
  workers: { type: 'string' },
  name: { type: 'string' },
  note: { type: 'string', default: '' },
  'go-on': { type: 'boolean', default: false },
  shrink: { type: 'boolean', default: false },
  whole: { type: 'boolean', default: false },
  brief: { type: 'boolean', default: false },
  write: { type: 'boolean', default: false },
} as const

/** Parses the arguments of all commands. Throws an `Error` that says what is wrong with them. */
export function parse(args: readonly string[]) {
  const { values, positionals } = parseArgs({ args: [...args], options: flags, allowPositionals: true })
  const { recipe, clients, servers, faults, workers } = values
  const options: Omit<DrawOptions, 'seed'> = {
    recipe: recipe === undefined ? undefined : oneOf('--recipe', recipe, workloadNames),
    clients: count('--clients', clients),
    members: count('--servers', servers),
    faults: faultTypes(faults),
  }
  return {
    ...values,
    options,
    seeds: { from: count('--from', values.from)!, count: count('--seeds', values.seeds)! },
    workers: count('--workers', workers),
    what: positionals[0],
  }
}

export type Arguments = ReturnType<typeof parse>

const known = [...new Set([...everyFault, ...everyFaultOfCalls])]

/** undefined for the default. */
function faultTypes(faults: string): readonly FaultType[] | undefined {
  if (faults === 'every') return undefined
  if (faults === 'none') return []
  return faults.split(',').map((type) => oneOf('--faults', type, known))
}

function oneOf<T extends string>(flag: string, value: string, known: readonly T[]): T {
  const found = known.find((each) => each === value)
  if (found === undefined) throw new Error(`${flag}: ${value} is not one of ${known.join(', ')}`)
  return found
}

function count(flag: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined
  const number = Number(value)
  if (Number.isInteger(number) && number >= 0) return number
  throw new Error(`${flag}: ${value} is not a number of anything`)
}
