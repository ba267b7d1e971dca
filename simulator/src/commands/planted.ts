// node dist/commands/planted.js [part of a name, a check, or what is played]: the first seed with which each planted bug is found.
import { plantedBugs } from '../planted/bugs.ts'
import { findBug } from '../planted/find.ts'

const what = process.argv[2] ?? ''
const bugs = plantedBugs.filter(({ name, finds, recipe }) => name.includes(what) || finds === what || recipe === what)

console.log('| check | bug | played | faults | first seed |\n|---|---|---|---|--:|')
for (const bug of bugs) {
  const seed = await findBug(bug)
  const { name, finds, within, recipe = 'recipes', faults = ['every'] } = bug
  console.log(`| ${finds} | ${name} | ${recipe} | ${faults.join(', ')} | ${seed ?? `not within ${within}`} |`)
  if (seed === undefined) process.exitCode = 1
}
