// node dist/commands/main.js [run | replay | store] …: see `usage`.
import { run } from './run.ts'
import { replay, store } from './replay.ts'
import { workloadNames } from '../recipes/index.ts'

const usage = `
simulate [run] [--seeds 1000] [--from 1] [--recipe ${workloadNames.join('|')}] [--clients 3]
               [--servers 3] [--faults every|none|type,type,…] [--workers n] [--go-on]
    Runs seeds on all cores and stops at the first violation: prints its seed and its shrunk scenario.
    ZooKeeper: plain calls of the client; it is never drawn if no recipe is named.
    --go-on counts the seeds of every invariant instead.
simulate replay <seed | file.json> [the options of its run] [--shrink] [--brief]
    Plays one again and prints its trace: every frame, decoded, and what clients did.
simulate store <seed | file.json> --name <name> [--note text] [the options of its run] [--whole]
    Writes it, shrunk unless --whole, to simulator/seeds/<name>.json, which a test plays from then on.
`

const [command = 'run', ...rest] = process.argv.slice(2)
switch (command) {
  case 'replay':
    await replay(rest)
    break
  case 'store':
    await store(rest)
    break
  case 'run':
    await run(rest)
    break
  default:
    if (command.startsWith('--') && command !== '--help') await run([command, ...rest])
    else console.log(usage.trim())
}
