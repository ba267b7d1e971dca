import { connect, KeeperError } from '@zk/client'
import { TestEnsemble } from '@zk/testing'
import { expect, onTestFinished, test } from 'vitest'
import { LineError, Served, wordsOf } from '../src/ensemble/serve-lines.ts'

async function served(): Promise<Served> {
  const ensemble = await TestEnsemble.start({ tickTime: 100 })
  onTestFinished(() => ensemble.close())
  return new Served(ensemble)
}

test.each([
  ['kill  zk1', ['kill', 'zk1']],
  ['create /a "two words"', ['create', '/a', 'two words']],
  [String.raw`set /a "a \"b\" \u00e9"`, ['set', '/a', 'a "b" é']],
  ['history path="/a b"', ['history', 'path=/a b']],
  ['set /a ""', ['set', '/a', '']],
  ['  ', []],
])('wordsOf reads %s', (line, words) => {
  expect(wordsOf(line)).toEqual(words)
})

test.each([
  ['', 'the line is empty: help lists what can be said'],
  ['kil zk1', 'there is no kil: did you mean kill? (help lists what can be said)'],
  ['constructor', 'there is no constructor (help lists what can be said)'],
  ['kill', 'it takes at least 1: kill MEMBER…'],
  ['kill zk9', 'there is no member "zk9"; there are zk1, zk2, zk3'],
  ['members zk1', 'it takes no words: members'],
  ['cut zk1', 'it takes 2: cut MEMBER MEMBER'],
  ['lag zk1 soon', "MS is a number, not 'soon': lag MEMBER MS|forever"],
  ['expire 12', "a session is 0x and hex digits, not '12': expire SESSION|all"],
  ['lose-reply create', "'create' is not KEY=VALUE: lose-reply [FAULT]"],
  ['lose-reply up=create', 'loseReply: unknown option up; known are op, path, session, member, nth, times, connection'],
  ['delay-reply', 'delayReply: ms must be a number above 0, not undefined'],
  ['remove 4', 'there is no rule 4: remove RULE'],
  [
    'connection 4 end',
    'there is no connection 4: connection NUMBER end|reset|pause|resume|half-open [requests|replies]',
  ],
  ['create /a "b', 'a quote is not closed'],
  ['get /a', 'there is no node /a'],
])('Served refuses %j, and says why', async (line, message) => {
  await expect((await served()).obey(line)).rejects.toEqual(new LineError(message))
})

test('Served loses a reply once, tells how often a rule has struck, and has the request in its history', async () => {
  const all = await served()
  await using zk = await connect(all.ensemble.connectString)
  expect(await all.obey('lose-reply op=create path=/orders')).toEqual({ document: { rule: 1 }, lines: ['rule 1'] })
  const error = await zk.create('/orders', 'a book').catch((error: unknown) => error)
  expect(KeeperError.is(error, 'ConnectionLoss') && error.outcomeUnknown).toBe(true)
  expect((await all.obey('rules')).lines).toEqual(['1 1 over lose-reply op=create path=/orders'])
  expect((await all.obey('get /orders')).document).toMatchObject({ path: '/orders', text: 'a book', children: [] })
  const { document } = await all.obey('history op=create')
  expect(document['entries']).toMatchObject([
    { from: 'client', type: 'request', op: 'create2', path: '/orders', fault: null },
    { from: 'server', type: 'reply', op: 'create2', error: null, fault: 'loseReply' },
  ])
})

test('Served kills the leader, waits for the next one, and expires all sessions', async () => {
  const all = await served()
  await using zk = await connect(all.ensemble.connectString)
  const { session } = zk
  const before = all.ensemble.leader?.name
  await all.obey('kill leader')
  const { document } = await all.obey('serving 10000')
  expect(document['leader']).not.toBe(before)
  expect((await all.obey('members')).lines.join('\n')).toMatch(new RegExp(`^${before} 127.0.0.1:\\d+ down$`, 'm'))
  await all.obey('expire all')
  await all.obey('start all')
  await new Promise<void>((resolve) => {
    if (session.signal.aborted) resolve()
    session.signal.addEventListener('abort', () => resolve())
  })
  expect(KeeperError.is(session.signal.reason, 'SessionExpired')).toBe(true)
})

test('Served has an entry in its help for each line, with its words', async () => {
  const all = await served()
  const { document, lines } = await all.obey('help')
  const verbs = document['verbs'] as readonly { readonly verb: string }[]
  expect(lines.slice(0, verbs.length).map((line) => line.split(' ')[0])).toEqual(verbs.map(({ verb }) => verb))
  expect((await all.obey('help expire')).lines).toEqual([
    `${'expire SESSION|all'.padEnd(44)}  expires a session; its ephemeral nodes are deleted`,
  ])
})
