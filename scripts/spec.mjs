// Checks the models below spec/ with SPIN: each variant must hold or be refuted, as its `variants.json` says.
//
//   node scripts/spec.mjs                 the small scope of every model
//   node scripts/spec.mjs --large         the large scope
//   node scripts/spec.mjs --rules         only the rules themselves, and no variant that must be refuted
//   node scripts/spec.mjs lease NO_D      only variants whose `folder/name` contains one of these words
//   node scripts/spec.mjs --story NO_D    also prints the steps of the shortest counterexample
//   node scripts/spec.mjs --json          prints an array of outcomes instead of lines
//
// Needs `spin` (6.5 or later) and `gcc`. Builds in a temporary folder. Fails if an outcome is not the expected one.

import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const spec = fileURLToPath(new URL('../spec', import.meta.url))
const args = process.argv.slice(2).filter((argument, index) => !(index === 0 && argument === '--'))
const has = (option) => args.includes(option)
const words = args.filter((argument) => !argument.startsWith('--'))

/** The time limit of a variant, which no variant reaches on a quiet machine. A variant that takes longer is not checked. */
const SECONDS = has('--large') ? 7200 : 600
/** The depth limit of a search. SPIN's own limit of 10,000 is too small for a model in which time has no end. */
const DEPTH = 2_000_000

/**
 * A search goes depth first, which takes less memory, and finds most counterexamples after few states. A story is searched
 * breadth first, which finds a shortest one. An optimizing compiler would take longer than most searches for a
 * counterexample, and with -O2 longer than a search through a million states. Compressed states take twice the time: the small
 * scope needs less than 1 GB without. -E: a model may end, as that of the lease does when the session is closed.
 */
const optimized = has('--large') ? '-O2' : '-O1'
const compressed = has('--large') ? ['-DCOLLAPSE'] : []
const depthFirst = { gcc: ['-DSAFETY', '-DNOCLAIM', ...compressed], pan: ['-E', `-m${DEPTH}`] }
const breadthFirst = { gcc: ['-DBFS', ...depthFirst.gcc], pan: ['-E'] }
const searches = {
  holds: { ...depthFirst, gcc: [optimized, ...depthFirst.gcc] },
  refuted: has('--story') ? breadthFirst : depthFirst,
}

const outcomes = variants().map((variant, index, { length }) => {
  const outcome = check(variant)
  if (!has('--json')) console.log(lineOf(outcome, `${index + 1}/${length}`))
  return outcome
})
if (has('--json')) console.log(JSON.stringify(outcomes, undefined, 2))
const surprises = outcomes.filter(({ isExpected }) => !isExpected).length
if (outcomes.length === 0) console.error('No variant has such a name.')
else if (!has('--json')) console.log(`${outcomes.length} variants, ${surprises} not as expected`)
process.exitCode = outcomes.length === 0 || surprises > 0 ? 1 : 0

function variants() {
  const scope = has('--large') ? 'large' : 'small'
  const folders = readdirSync(spec, { withFileTypes: true }).filter((entry) => entry.isDirectory())
  return folders
    .map(({ name }) => name)
    .filter((folder) => existsSync(join(spec, folder, 'variants.json')))
    .flatMap((folder) =>
      JSON.parse(readFileSync(join(spec, folder, 'variants.json'), 'utf8')).map((variant) => ({ folder, ...variant })),
    )
    .filter((variant) => variant.scope === scope && (variant.expect === 'holds' || !has('--rules')))
    .filter(({ folder, name }) => words.length === 0 || words.some((word) => `${folder}/${name}`.includes(word)))
}

/**
 * `spin` has the flags of the variant. `gcc` and `pan`, if present, set how it is searched. `order` has the order in which a search
 * meets its counterexample early.
 */
function check({ folder, name, file, spin, gcc, pan, order = [], expect, note }) {
  const search = {
    gcc: [...(gcc ?? searches[expect].gcc), ...(has('--story') ? [] : order)],
    pan: pan ?? searches[expect].pan,
  }
  const place = mkdtempSync(join(tmpdir(), 'zk-spec-'))
  const run = (command, ...words) =>
    spawnSync(command, words, { cwd: place, encoding: 'utf8', maxBuffer: 2 ** 28, timeout: SECONDS * 1000 })
  const model = join(spec, folder, file)
  const started = performance.now()
  const outcomeOf = (actual, rest) => {
    const seconds = Math.round((performance.now() - started) / 100) / 10
    return { model: folder, name, note, expected: expect, actual, isExpected: actual === expect, seconds, ...rest }
  }
  try {
    // With this flag, which spin itself does not need, it always runs the preprocessor.
    const made = run('spin', '-DSPEC', ...spin, '-a', model)
    if (made.error !== undefined) return outcomeOf('broken', { output: `spin: ${made.error.message}` })
    if (made.status !== 0) return outcomeOf('broken', { output: made.stdout + made.stderr })
    const built = run('gcc', '-w', '-DVECTORSZ=2048', ...search.gcc, '-o', 'pan', 'pan.c')
    if (built.error !== undefined) return outcomeOf('broken', { output: `gcc: ${built.error.message}` })
    if (built.status !== 0) return outcomeOf('broken', { output: built.stderr })
    const { status, stdout } = run('./pan', ...search.pan)
    const errors = /errors: (\d+)/.exec(stdout)?.[1]
    // Of large numbers SPIN prints the first digits: 1.09e+08.
    const states = Number(/([\d.e+]+) states, stored/.exec(stdout)?.[1] ?? 0)
    const isWhole = status === 0 && !/Search not completed|max search depth too small|out of memory/.test(stdout)
    if (errors === '0' && isWhole) return outcomeOf('holds', { states })
    if (
      errors === undefined ||
      errors === '0' ||
      !/assertion violated|acceptance cycle|invalid end state/.test(stdout)
    ) {
      return outcomeOf('undecided', { states, output: stdout })
    }
    const story = run('spin', '-k', `${file}.trail`, '-DSPEC', ...spin, model).stdout
    const steps = Number(/trail ends after (\d+) steps/.exec(story)?.[1] ?? 0)
    return outcomeOf('refuted', { states, steps, story: stepsIn(story) })
  } finally {
    rmSync(place, { recursive: true, force: true })
  }
}

/** The lines that the model prints for each step. They end with the replay; after it SPIN prints variables. */
function stepsIn(story) {
  const lines = story.split('\n').map((line) => line.trim())
  const end = lines.findIndex((line) => line.startsWith('spin: trail ends'))
  return lines.slice(0, end).filter((line) => line !== '' && !line.startsWith('spin:'))
}

function lineOf({ model, name, expected, actual, isExpected, states, seconds, steps, story, output }, place) {
  const figures = [
    states === undefined ? undefined : `${states.toLocaleString('en')} states`,
    steps === undefined ? undefined : `after ${steps} steps`,
    `${seconds} s`,
  ].filter((figure) => figure !== undefined)
  const line = `${isExpected ? '✓' : '✗'} ${place} ${model}/${name}: ${actual}${isExpected ? '' : `, expected: ${expected}`} (${figures.join(', ')})`
  const isTold = story !== undefined && (has('--story') || !isExpected)
  return [line, ...(isTold ? story.map((step) => `    ${step}`) : []), ...(output === undefined ? [] : [output])].join(
    '\n',
  )
}
