// The lines that `zk serve` obeys: what each does to the ensemble, and its answer.
import { Buffer } from 'node:buffer'
import type {
  DelayOptions,
  FailOptions,
  FaultMatch,
  FaultRule,
  HistoryEntry,
  TestEnsemble,
  TestMember,
} from '@zk/testing'
import { errorName, eventName } from '@zk/wire'
import { hex, nearestOf, printable } from '@zk/client/internal'
import { dataDocument, textOf } from '../nodes/shown.ts'

/** A line that cannot be obeyed. The message says why. */
export class LineError extends Error {
  override readonly name = 'LineError'
}

export interface LineAnswer {
  /** For JSON. */
  readonly document: Readonly<Record<string, unknown>>
  /** The same for people; none if all that there is to say is that it was done. */
  readonly lines: readonly string[]
}

interface Verb {
  readonly usage: string
  readonly help: string
  run(words: readonly string[], served: Served): LineAnswer | undefined | Promise<LineAnswer | undefined>
}

const done: LineAnswer = { document: {}, lines: [] }

/** The ensemble, and the faults that lines have made. */
export class Served {
  readonly ensemble: TestEnsemble
  readonly rules = new Map<number, { readonly text: string; readonly rule: FaultRule }>()
  #lastRule = 0

  constructor(ensemble: TestEnsemble) {
    this.ensemble = ensemble
  }

  /** Does what the line says. Rejects with a LineError. */
  async obey(line: string): Promise<LineAnswer> {
    const [name, ...words] = wordsOf(line)
    if (name === undefined) throw new LineError('the line is empty: help lists what can be said')
    const verb = Object.hasOwn(VERBS, name) ? VERBS[name] : undefined
    if (verb === undefined) throw new LineError(`there is no ${name}${nearest(name)} (help lists what can be said)`)
    try {
      return (await verb.run(words, this)) ?? done
    } catch (error) {
      if (error instanceof WrongWords) throw new LineError(`${error.message}: ${name} ${verb.usage}`.trimEnd())
      // The ensemble says what is wrong with a value, or why it cannot do it now.
      throw new LineError((error as Error).message)
    }
  }

  add(text: string, rule: FaultRule): LineAnswer {
    const id = ++this.#lastRule
    this.rules.set(id, { text, rule })
    return { document: { rule: id }, lines: [`rule ${id}`] }
  }
}

function nearest(name: string): string {
  const found = nearestOf(name, Object.keys(VERBS))
  return found === undefined ? '' : `: did you mean ${found}?`
}

/** Too few or too many words, or an unknown one. */
class WrongWords extends Error {
  override readonly name = 'WrongWords'
}

/** Words are separated by spaces. A part in double quotes is a string of JSON. Throws a LineError. */
export function wordsOf(line: string): string[] {
  const text = line.trim()
  const words = text.match(/(?:[^\s"]|"(?:[^"\\]|\\.)*")+/g) ?? []
  if (words.join('') !== text.replace(/("(?:[^"\\]|\\.)*")|\s/g, '$1')) throw new LineError('a quote is not closed')
  return words.map((word) =>
    word.replace(/"(?:[^"\\]|\\.)*"/g, (quoted) => {
      try {
        return String(JSON.parse(quoted))
      } catch {
        throw new LineError(`${quoted} is no string of JSON`)
      }
    }),
  )
}

const VERBS: Readonly<Record<string, Verb>> = {
  help: {
    usage: '[VERB]',
    help: 'what can be said',
    run: ([name]) => {
      const all = Object.entries(VERBS).filter(([each]) => name === undefined || each === name)
      if (all.length === 0) throw new WrongWords(`there is no ${name}`)
      const lines = all.map(([each, { usage, help }]) => `${`${each} ${usage}`.trimEnd().padEnd(44)}  ${help}`)
      const verbs = all.map(([verb, { usage, help }]) => ({ verb, usage, help }))
      return { document: { verbs }, lines: name === undefined ? [...lines, ...ABOUT] : lines }
    },
  },
  members: {
    usage: '',
    help: 'each member: name, address, role',
    run: (words, { ensemble }) => {
      none(words)
      const members = ensemble.members.map(({ name, address, role, isFrozen }) => ({
        name,
        address,
        role,
        isPaused: isFrozen,
      }))
      const lines = members.map(
        ({ name, address, role, isPaused }) => `${name} ${address} ${role}${isPaused ? ' paused' : ''}`,
      )
      return { document: { connectString: ensemble.connectString, members }, lines }
    },
  },
  serving: {
    usage: '[MS]',
    help: 'waits until a quorum serves; at most so long (30000)',
    run: async (words, { ensemble }) => {
      const [ms] = upTo(1, words)
      const { name } = await ensemble.serving(ms === undefined ? {} : { timeout: numberOf('MS', ms) })
      return { document: { leader: name }, lines: [`leader ${name}`] }
    },
  },
  kill: forMembers('ends the process; its port refuses connections', (member) => member.kill()),
  start: forMembers('starts a killed member again', (member) => member.restart()),
  pause: forMembers('stops the process, as SIGSTOP does', (member) => member.freeze()),
  resume: forMembers('lets a paused member continue', (member) => member.thaw()),
  refuse: forMembers('refuses new connections, and keeps the others', (member) => member.refuse()),
  accept: forMembers('accepts connections again', (member) => member.accept()),
  lag: {
    usage: 'MEMBER MS|forever',
    help: 'applies commits so much later: stale reads',
    run: (words, served) => {
      const [name, ms] = exactly(2, words)
      for (const member of membersOf(name!, served)) member.lag(numberOf('MS', ms!))
      return done
    },
  },
  'catch-up': forMembers('ends the lag', (member) => member.catchUp()),
  partition: {
    usage: 'MEMBER,… [MEMBER,…]',
    help: 'no message passes between members of different groups',
    run: (words, served) => {
      atLeast(1, words)
      const groups = words.map((word) => word.split(',').flatMap((name) => membersOf(name, served)))
      served.ensemble.network.partition(...groups)
      return done
    },
  },
  isolate: forMembers('cuts all links of the member', (member, { network }) => network.isolate(member)),
  cut: forLink('cuts the link between two members', ({ network }, a, b) => network.cut(a, b)),
  stall: forLink('loses no message, but delivers none from the first to the second', ({ network }, a, b) =>
    network.stall(a, b),
  ),
  unstall: forLink('ends a stall', ({ network }, a, b) => network.resume(a, b)),
  heal: {
    usage: '[MEMBER MEMBER]',
    help: 'heals one link, or all',
    run: (words, { ensemble }) => {
      if (words.length === 0) ensemble.network.heal()
      else {
        const [a, b] = exactly(2, words)
        ensemble.network.heal(a, b)
      }
      return done
    },
  },
  latency: {
    usage: 'MS',
    help: 'how long messages between members take',
    run: (words, { ensemble }) => {
      const [ms] = exactly(1, words)
      ensemble.network.delay(numberOf('MS', ms!))
      return done
    },
  },
  sessions: {
    usage: '',
    help: 'the sessions that the leader knows: id, timeout, member',
    run: (words, { ensemble }) => {
      none(words)
      const sessions = ensemble.sessions.list().map(({ id, timeOut, member }) => ({
        id: hex(id),
        timeoutMs: timeOut,
        member: member ?? null,
      }))
      return {
        document: { sessions },
        lines: sessions.map(({ id, timeoutMs, member }) => `${id} ${timeoutMs} ms ${member ?? '-'}`),
      }
    },
  },
  expire: {
    usage: 'SESSION|all',
    help: 'expires a session; its ephemeral nodes are deleted',
    run: (words, { ensemble }) => {
      const [id] = exactly(1, words)
      const ids = id === 'all' ? ensemble.sessions.list().map((session) => session.id) : [sessionOf(id!)]
      for (const each of ids) ensemble.sessions.expire(each)
      return { document: { sessions: ids.map(hex) }, lines: ids.map(hex) }
    },
  },
  move: {
    usage: 'SESSION MEMBER',
    help: 'moves a session: its next write fails with SessionMoved',
    run: (words, { ensemble }) => {
      const [id, member] = exactly(2, words)
      ensemble.sessions.move(sessionOf(id!), member!)
      return done
    },
  },
  connections: {
    usage: '',
    help: 'the connections of clients: number, member, session',
    run: (words, { ensemble }) => {
      none(words)
      const connections = ensemble.members.flatMap((member) =>
        member.connections.map(({ id, session }) => ({ number: id, member: member.name, session: hex(session) })),
      )
      return {
        document: { connections },
        lines: connections.map(({ number, member, session }) => `${number} ${member} ${session}`),
      }
    },
  },
  connection: {
    usage: 'NUMBER end|reset|pause|resume|half-open [requests|replies]',
    help: 'one connection of a client',
    run: (words, { ensemble }) => {
      const [number, what, way] = upTo(3, words)
      const connection = ensemble.members
        .flatMap(({ connections }) => connections)
        .find(({ id }) => String(id) === number)
      if (connection === undefined || what === undefined) throw new WrongWords(`there is no connection ${number ?? ''}`)
      if (what === 'half-open') connection.halfOpen((way as 'requests' | undefined) ?? 'both')
      else if (way !== undefined) throw new WrongWords(`${way} goes with half-open`)
      else if (what === 'end') connection.end()
      else if (what === 'reset') connection.reset()
      else if (what === 'pause') connection.freeze()
      else if (what === 'resume') connection.thaw()
      else throw new WrongWords(`a connection cannot ${what}`)
      return done
    },
  },
  'lose-request': forFault('lose-request', 'the request is not executed, and the connection ends', (faults, match) =>
    faults.loseRequest(match),
  ),
  'lose-reply': forFault(
    'lose-reply',
    'the request is executed, and the connection ends before the reply',
    (faults, match) => faults.loseReply(match),
  ),
  drop: forFault('drop', 'the reply comes, and then the connection ends', (faults, match) => faults.drop(match)),
  'delay-request': forFault('delay-request', 'ms=MS: the request reaches the server later', (faults, match) =>
    faults.delayRequest(match as DelayOptions),
  ),
  'delay-reply': forFault('delay-reply', 'ms=MS: the reply comes later', (faults, match) =>
    faults.delayReply(match as DelayOptions),
  ),
  fail: forFault('fail', 'code=NAME|NUMBER: the request is not executed, and fails', (faults, match) =>
    faults.fail(match as FailOptions),
  ),
  garbage: forFault('garbage', '[bytes=HEX]: other bytes in place of the reply', (faults, match) =>
    faults.garbage(match),
  ),
  split: forFault('split', '[at=BYTES] [ms=MS]: the reply comes in two pieces', (faults, match) => faults.split(match)),
  merge: forFault('merge', '[ms=MS]: the reply waits for the next frame', (faults, match) => faults.merge(match)),
  'replace-session': forFault('replace-session', 'a client that resumes a session gets another one', (faults, match) =>
    faults.replaceSession(match),
  ),
  rules: {
    usage: '',
    help: 'the faults so far, and how often each has struck',
    run: (words, { rules, ensemble }) => {
      none(words)
      const active = new Set(ensemble.faults.rules)
      const all = [...rules].map(([id, { text, rule }]) => ({
        rule: id,
        line: text,
        struck: rule.count,
        isOver: !active.has(rule),
      }))
      return {
        document: { rules: all },
        lines: all.map(({ rule, line, struck, isOver }) => `${rule} ${struck}${isOver ? ' over' : ''} ${line}`),
      }
    },
  },
  remove: {
    usage: 'RULE',
    help: 'ends a fault',
    run: (words, { rules }) => {
      const [id] = exactly(1, words)
      const found = rules.get(Number(id))
      if (found === undefined) throw new WrongWords(`there is no rule ${id}`)
      found.rule.remove()
      return done
    },
  },
  clear: {
    usage: '',
    help: 'ends all faults of requests and replies',
    run: (words, { ensemble }) => {
      none(words)
      ensemble.faults.clear()
      return done
    },
  },
  get: {
    usage: 'PATH',
    help: 'a node on the leader, whatever its ACL',
    run: (words, { ensemble }) => {
      const [path] = exactly(1, words)
      const node = ensemble.nodes.get(path!)
      if (node === undefined) throw new LineError(`there is no node ${printable(path!)}`)
      const { data, stat, children } = node
      const { version, ephemeralOwner } = stat
      return {
        document: {
          path,
          ...dataDocument({ data: new Uint8Array(data) }),
          version,
          ephemeralOwner: hex(ephemeralOwner),
          children,
        },
        lines: [printable(textOf(data) ?? `base64 ${Buffer.from(data).toString('base64')}`)],
      }
    },
  },
  create: {
    usage: 'PATH [DATA]',
    help: 'creates a node and those above it',
    run: (words, { ensemble }) => {
      const [path, data] = upTo(2, words)
      if (path === undefined) throw new WrongWords('it needs a path')
      ensemble.nodes.create(path, data === undefined ? {} : { data })
      return done
    },
  },
  set: {
    usage: 'PATH DATA',
    help: 'replaces the data of a node',
    run: (words, { ensemble }) => {
      const [path, data] = exactly(2, words)
      ensemble.nodes.setData(path!, data!)
      return done
    },
  },
  delete: {
    usage: 'PATH',
    help: 'deletes a node and all nodes below it',
    run: (words, { ensemble }) => {
      const [path] = exactly(1, words)
      ensemble.nodes.delete(path!)
      return done
    },
  },
  ephemerals: {
    usage: '[SESSION]',
    help: 'the paths of the ephemeral nodes',
    run: (words, { ensemble }) => {
      const [id] = upTo(1, words)
      const paths = ensemble.nodes.ephemerals(id === undefined ? undefined : sessionOf(id))
      return { document: { paths }, lines: paths.map(printable) }
    },
  },
  counter: {
    usage: 'PATH NUMBER',
    help: 'the number that the next sequential child gets',
    run: (words, { ensemble }) => {
      const [path, number] = exactly(2, words)
      ensemble.nodes.presetCounter(path!, numberOf('NUMBER', number!))
      return done
    },
  },
  history: {
    usage: '[op=OP,…] [path=PATH] [session=SESSION] [member=MEMBER]',
    help: 'all frames, connections and roles; or the requests and replies that match',
    run: (words, { ensemble: { history } }) => historyOf(history, matchOf(words)),
  },
  forget: {
    usage: '',
    help: 'empties the history',
    run: (words, { ensemble }) => {
      none(words)
      ensemble.history.clear()
      return done
    },
  },
}

const ABOUT = [
  '',
  'MEMBER is a name such as zk1, leader, followers, or all. FAULT is, each part as you like:',
  '  op=create,delete  path=/a (and below)  pattern=REGEX  session=0x…  member=zk1',
  '  nth=2 (the second that matches)  times=3|forever  connection=end|reset|halfOpen|open (how it is lost)',
  'A part of a word in double quotes is a string of JSON: create /a "two words"',
]

function forMembers(help: string, act: (member: TestMember, ensemble: TestEnsemble) => void): Verb {
  return {
    usage: 'MEMBER…',
    help,
    run: (words, served) => {
      atLeast(1, words)
      // All are found before the first is changed: another one may lead then.
      for (const member of words.flatMap((name) => membersOf(name, served))) act(member, served.ensemble)
      return done
    },
  }
}

function forLink(help: string, act: (ensemble: TestEnsemble, a: string, b: string) => void): Verb {
  return {
    usage: 'MEMBER MEMBER',
    help,
    run: (words, { ensemble }) => {
      const [a, b] = exactly(2, words)
      act(ensemble, a!, b!)
      return done
    },
  }
}

function forFault(
  name: string,
  help: string,
  add: (faults: TestEnsemble['faults'], match: FaultMatch) => FaultRule,
): Verb {
  return {
    usage: '[FAULT]',
    help,
    run: (words, served) => served.add([name, ...words].join(' '), add(served.ensemble.faults, matchOf(words))),
  }
}

function membersOf(name: string, { ensemble }: Served): readonly TestMember[] {
  if (name === 'all') return ensemble.members
  if (name === 'followers') return ensemble.followers
  if (name !== 'leader') return [ensemble.member(name)]
  if (ensemble.leader === undefined) throw new LineError('no member leads now: serving waits for one')
  return [ensemble.leader]
}

/** The ensemble checks which fields a fault has, and their values. */
function matchOf(words: readonly string[]): FaultMatch {
  const fields = words.map((word) => {
    const [, key, value = ''] = /^([a-z]+)=(.*)$/s.exec(word) ?? []
    if (key === undefined) throw new WrongWords(`'${word}' is not KEY=VALUE`)
    switch (key) {
      case 'op':
        return [key, value.split(',')] as const
      case 'pattern':
        return ['path', new RegExp(value)] as const
      case 'session':
        return [key, sessionOf(value)] as const
      case 'nth':
      case 'times':
      case 'ms':
      case 'at':
        return [key, numberOf(key, value)] as const
      case 'code':
        return [key, /^-?\d+$/.test(value) ? Number(value) : value] as const
      case 'bytes':
        return [key, bytesOf(value)] as const
      default:
        return [key, value] as const
    }
  })
  return Object.fromEntries(fields)
}

function sessionOf(text: string): bigint {
  if (!/^0x[0-9a-f]{1,16}$/i.test(text)) throw new WrongWords(`a session is 0x and hex digits, not '${text}'`)
  return BigInt.asIntN(64, BigInt(text))
}

function numberOf(what: string, text: string): number {
  if (text === 'forever') return Infinity
  if (!/^-?\d+(\.\d+)?$/.test(text)) throw new WrongWords(`${what} is a number, not '${text}'`)
  return Number(text)
}

function bytesOf(text: string): Uint8Array {
  if (!/^([0-9a-f]{2})+$/i.test(text)) throw new WrongWords(`bytes are pairs of hex digits, not '${text}'`)
  return Buffer.from(text, 'hex')
}

const none = (words: readonly string[]): void => void exactly(0, words)

function exactly(count: number, words: readonly string[]): readonly string[] {
  if (words.length !== count) throw new WrongWords(count === 0 ? 'it takes no words' : `it takes ${count}`)
  return words
}

function atLeast(count: number, words: readonly string[]): void {
  if (words.length < count) throw new WrongWords(`it takes at least ${count}`)
}

function upTo(count: number, words: readonly string[]): readonly string[] {
  if (words.length > count) throw new WrongWords(`it takes at most ${count}`)
  return words
}

function historyOf(history: TestEnsemble['history'], match: FaultMatch): LineAnswer {
  const { entries, dropped } = history
  const lines = history.toJSON()
  const isAll = Object.keys(match).length === 0
  const found = new Set<HistoryEntry>(isAll ? entries : [...history.requests(match), ...history.replies(match)])
  const kept = entries.flatMap((entry, index) => (found.has(entry) ? [{ entry, line: lines[index]! }] : []))
  return {
    document: { dropped, entries: kept.map(({ entry, line }) => entryDocument(entry, line)) },
    lines: kept.map(({ line }) => line),
  }
}

function entryDocument(entry: HistoryEntry, line: string): Readonly<Record<string, unknown>> {
  const text = line.trimStart()
  const at = Number(entry.at.toFixed(3))
  if (entry.from === 'control' || entry.from === 'member') return { ...entry, at, text }
  const { from, member, connection, session } = entry
  const common = { at, from, member, connection, session: hex(session) }
  if (entry.from === 'connection') return { ...common, what: entry.what, reason: entry.reason, text }
  return { ...common, ...messageDocument(entry.message), fault: entry.fault ?? null, text }
}

/** What a test asks for; `text` has the rest. */
function messageDocument(
  message: Extract<HistoryEntry, { message: unknown }>['message'],
): Readonly<Record<string, unknown>> {
  const { type } = message
  if (message.type === 'request') {
    const { op, xid, request } = message
    const path = (request as { readonly path?: unknown } | undefined)?.path
    return { type, op, xid, ...(typeof path === 'string' ? { path } : {}) }
  }
  if (message.type === 'reply') {
    const { op, xid, zxid, err } = message
    return { type, op, xid, zxid: hex(zxid), error: err === 0 ? null : (errorName(err) ?? err) }
  }
  if (message.type === 'event') return { type, event: eventName(message.event.type), path: message.event.path }
  return { type }
}
