// Finds the command and runs it. Nothing of the client is imported here: the help starts without it.
import { type Command, type Commands, optionsOf } from './command.ts'
import { CONNECTION_NOTES, CONNECTION_OPTIONS } from './connection-options.ts'
import { EXIT } from './exit.ts'
import { Arguments, readArguments, UnknownNameError, UsageError } from './options.ts'
import { print } from './output.ts'

const COMMANDS: Commands = {
  lock: {
    summary: 'Runs a command while it holds a lock, and ends the command before another host can hold the lock.',
    load: async () => (await import('../lock/lock.ts')).LOCK,
  },
  elect: {
    summary: 'Keeps a command running on exactly one host: the leader of an election.',
    load: async () => (await import('../lock/elect.ts')).ELECT,
  },
  locks: {
    summary: 'Prints who holds a lock, a semaphore or a leadership, and who waits for whom; or breaks a hold.',
    load: async () => (await import('../locks/locks.ts')).LOCKS,
  },
  leader: {
    summary: 'Prints who leads an election, and follows the changes.',
    load: async () => (await import('../locks/leader.ts')).LEADER,
  },
  get: { summary: 'Prints the data of a node.', load: async () => (await import('../nodes/read.ts')).GET },
  stat: {
    summary: 'Prints what the servers say about a node: zxids, times, versions. --wait waits until it exists.',
    load: async () => (await import('../nodes/read.ts')).STAT,
  },
  ls: {
    summary: 'Prints the names of the children of a node, sorted.',
    load: async () => (await import('../nodes/read.ts')).LS,
  },
  find: {
    summary: 'Prints the paths of a node and of all nodes below it, as they are read.',
    load: async () => (await import('../nodes/read.ts')).FIND,
  },
  tree: {
    summary: 'Draws a node and all nodes below it, with the sizes of their data.',
    load: async () => (await import('../nodes/tree.ts')).TREE,
  },
  du: {
    summary: 'Prints how many bytes and nodes are below each child of a node, the largest first.',
    load: async () => (await import('../nodes/tree.ts')).DU,
  },
  watch: {
    summary: 'Prints the events of nodes as they happen, or runs a command for each.',
    load: async () => (await import('../nodes/watch.ts')).WATCH,
  },
  set: { summary: 'Replaces the data of a node.', load: async () => (await import('../nodes/write.ts')).SET },
  create: {
    summary: 'Creates a node, and prints its path.',
    load: async () => (await import('../nodes/write.ts')).CREATE,
  },
  rm: {
    summary: 'Deletes a node, and with -r all nodes below it.',
    load: async () => (await import('../nodes/write.ts')).RM,
  },
  acl: {
    summary: 'Prints or sets the ACL of a node, and with -r of all nodes below it.',
    load: async () => (await import('../nodes/acl.ts')).ACL_COMMAND,
  },
  multi: {
    summary: 'Does several writes as one transaction, read as lines of JSON.',
    load: async () => (await import('../nodes/multi.ts')).MULTI,
  },
  cp: {
    summary: 'Copies a node, and with -r all nodes below it, also to another ensemble.',
    load: async () => (await import('../nodes/transfer.ts')).CP,
  },
  diff: {
    summary: 'Compares two trees of nodes, of one or two ensembles, or with a file of export.',
    load: async () => (await import('../nodes/transfer.ts')).DIFF,
  },
  export: {
    summary: 'Writes a node and all nodes below it as lines of JSON, with ACLs and stats.',
    load: async () => (await import('../nodes/transfer.ts')).EXPORT,
  },
  import: {
    summary: 'Writes what export has written, as far as it differs.',
    load: async () => (await import('../nodes/transfer.ts')).IMPORT,
  },
  health: {
    summary: 'Checks whether servers open a session, read, write and notify.',
    load: async () => (await import('../ensemble/health.ts')).HEALTH,
  },
  config: {
    summary: 'Prints the members of the ensemble, with their roles and addresses.',
    load: async () => (await import('../ensemble/config.ts')).CONFIG,
  },
  words: {
    summary: 'Sends four-letter words to each server, and prints the answers.',
    load: async () => (await import('../ensemble/words.ts')).WORDS,
  },
  bench: {
    summary: 'Measures how fast the ensemble reads, writes and locks.',
    load: async () => (await import('../ensemble/bench.ts')).BENCH,
  },
  serve: {
    summary: 'Runs an ensemble for tests in any language, with faults on demand.',
    load: async () => (await import('../ensemble/serve.ts')).SERVE,
  },
  conform: {
    summary: 'Judges a server or a client by the clauses of the protocol (@zk/conform).',
    load: async () => (await import('../ensemble/conform.ts')).CONFORM,
  },
  shell: {
    summary: 'Runs commands in one session, from a terminal or a script.',
    load: async () => (await import('../shell/shell.ts')).shellOf(COMMANDS, run),
  },
  completion: {
    summary: 'Prints a script that completes commands, options and paths in bash, zsh or fish.',
    load: async () => (await import('../shell/completion.ts')).COMPLETION,
  },
  profile: {
    summary: 'Keeps options of the connection under a name.',
    load: async () => (await import('../shell/profile.ts')).PROFILE,
  },
}

/** That of package.json: the build puts it here. */
declare const ZK_VERSION: string

/** Resolves with the exit code. */
export async function zk(args: readonly string[]): Promise<number> {
  const [name = '', ...rest] = args
  // Not in the help: `zk lock` starts it.
  if (name === 'guard') return (await import('../lock/guardian.ts')).guard(rest)
  // Nor this: the scripts of `zk completion` start it.
  if (name === 'complete') return (await import('../shell/complete-line.ts')).completeLine(rest, COMMANDS)
  // Nor this: the man pages are made of it.
  if (name === 'describe') {
    print(JSON.stringify(await description()))
    return EXIT.done
  }
  try {
    return await run(args)
  } catch (error) {
    return (await import('./failure.ts')).report(error)
  }
}

/** Resolves with the exit code. `prepare` may change the arguments of the command. */
async function run(
  [name = '', ...rest]: readonly string[],
  prepare = async (_command: Command, args: Arguments): Promise<Arguments> => args,
): Promise<number> {
  if (name === '') throw new UsageError('name a command: zk --help lists them')
  if (name === 'help' && rest.length > 0) return run([rest[0]!, '--help'])
  if (['help', '--help', '-h'].includes(name)) {
    print(overview())
    return EXIT.done
  }
  if (name === '--version') {
    print(`${ZK_VERSION}\n`)
    return EXIT.done
  }
  if (name.startsWith('-')) throw new UsageError(`the command comes first: zk COMMAND ${name} …`)
  const entry = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  if (entry === undefined) throw new UnknownNameError(`there is no command ${name}`, name, Object.keys(COMMANDS))
  const command = await entry.load()
  if (command.takesAllWords) return await command.run(new Arguments(rest, {}), [])
  const end = command.runsProgram ? rest.indexOf('--') : -1
  const given = readArguments(end < 0 ? rest : rest.slice(0, end), optionsOf(command))
  if (given.has('help')) {
    print(helpOf(name, entry.summary, command))
    return EXIT.done
  }
  return await command.run(await prepare(command, given), end < 0 ? [] : rest.slice(end + 1))
}

/** All that the help of all commands says. */
async function description(): Promise<object> {
  const commands = Object.entries(COMMANDS).map(async ([name, entry]) => {
    const { usage, options, notes, isLocal } = await entry.load()
    return [name, { summary: entry.summary, usage, options, notes, isLocal }] as const
  })
  return {
    summary: SUMMARY,
    options: CONNECTION_OPTIONS,
    notes: CONNECTION_NOTES,
    commands: Object.fromEntries(await Promise.all(commands)),
  }
}

const SUMMARY = 'The command line for ZooKeeper.'

function overview(): string {
  const width = Math.max(...Object.keys(COMMANDS).map((name) => name.length))
  return [
    `${SUMMARY}\n`,
    'Usage: zk COMMAND [options]\n',
    ...Object.entries(COMMANDS).map(([name, { summary }]) => `  ${name.padEnd(width)}  ${summary}`),
    '\nzk COMMAND --help says more. zk --version is the version.\n',
  ].join('\n')
}

function helpOf(name: string, summary: string, command: Command): string {
  const rows = optionsOf(command).map(({ name, short, value, help }) => ({
    left: `${short === undefined ? '    ' : `-${short}, `}--${name}${value === undefined ? '' : ` ${value}`}`,
    help,
  }))
  const lines = rows.map(({ left, help }) => `  ${left.padEnd(34)}  ${help}`)
  const notes = command.isLocal ? command.notes : `${command.notes}\n${CONNECTION_NOTES}`
  return `${summary}\n\nUsage: zk ${name} ${command.usage}\n\n${lines.join('\n')}\n\n${notes}`
}
