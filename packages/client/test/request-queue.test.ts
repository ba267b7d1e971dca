import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { RequestQueue } from '../src/session/requests/request-queue.ts'
import type { Request } from '../src/session/requests/request.ts'
import { namesIn, requestsIn } from './frames.ts'
import { own, read, sync, write } from './requests.ts'

const ALL = Infinity

function ledgerOf(...requests: readonly Request[]): RequestQueue {
  const ledger = new RequestQueue()
  for (const request of requests) ledger.enqueue(request)
  return ledger
}

/** The xids that a `send` puts on the wire. */
function sentXids(ledger: RequestQueue, { now = 0, limit = ALL } = {}): number[] {
  return ledger.send(now, limit).flatMap((frame) => requestsIn(frame).map(({ xid }) => xid))
}

describe('RequestQueue.send', () => {
  test('RequestQueue.send gives the requests in call order, numbered from 1', () => {
    const [first, second] = [read('/a'), write('/b')]
    const ledger = ledgerOf(first, second)
    const sent = ledger.send(5, ALL).flatMap((frame) => requestsIn(frame))
    expect(sent).toMatchObject([
      { xid: 1, body: { path: '/a' } },
      { xid: 2, body: { path: '/b' } },
    ])
    expect([first.phase, second.phase]).toEqual([
      { name: 'sent', xid: 1, at: 5 },
      { name: 'sent', xid: 2, at: 5 },
    ])
    expect(ledger.send(6, ALL)).toEqual([])
  })

  test('RequestQueue.send numbers when it sends: a request that is abandoned before uses up no xid', () => {
    const requests = [read(), read(), read()]
    const ledger = ledgerOf(...requests)
    ledger.abandon(requests[1]!)
    expect(sentXids(ledger)).toEqual([1, 2])
  })

  test('RequestQueue.send goes up to xid 2³¹ - 2 and on from 1, as Java does', () => {
    const ledger = new RequestQueue(2 ** 31 - 3)
    for (let count = 0; count < 4; count++) ledger.enqueue(read())
    expect(sentXids(ledger)).toEqual([2 ** 31 - 3, 2 ** 31 - 2, 1, 2])
  })

  test('RequestQueue.send leaves an xid of its own as it is, and uses up no other for it', () => {
    expect(sentXids(ledgerOf(read(), own(), read()))).toEqual([1, -8, 2])
  })

  test('RequestQueue.send stops once the limit is reached, and gives one request however long it is', () => {
    const { size } = read()
    const ledger = ledgerOf(read(), read(), read(), read())
    expect(sentXids(ledger, { limit: 2 * (size + 4) })).toEqual([1, 2])
    expect(sentXids(ledger, { limit: 1 })).toEqual([3])
    expect(sentXids(ledger, { limit: 0 })).toEqual([])
    expect(sentXids(ledger)).toEqual([4])
  })
})

describe('RequestQueue.oldest', () => {
  test('RequestQueue.oldest is the request that the next reply must be about', () => {
    const [first, second] = [read(), read()]
    const ledger = ledgerOf(first, second)
    expect(ledger.oldest).toBeUndefined()
    ledger.send(0, ALL)
    expect(ledger.oldest).toBe(first)
    ledger.answered()
    expect(ledger.oldest).toBe(second)
    ledger.answered()
    expect(ledger.oldest).toBeUndefined()
  })

  test('RequestQueue.oldestSentAt is when it left, also when nobody waits for it any more', () => {
    const [first, second] = [read(), read()]
    const ledger = ledgerOf(first)
    expect(ledger.oldestSentAt).toBeUndefined()
    ledger.send(10, ALL)
    ledger.enqueue(second)
    ledger.send(20, ALL)
    ledger.abandon(first)
    expect(ledger.oldestSentAt).toBe(10)
    ledger.answered()
    expect(ledger.oldestSentAt).toBe(20)
  })
})

describe('RequestQueue.prepend', () => {
  test('RequestQueue.prepend puts requests before all that wait, in their order', () => {
    const ledger = ledgerOf(read('/1'), read('/2'))
    ledger.prepend([sync('/3'), sync('/4')])
    expect(ledger.send(0, ALL).flatMap(namesIn)).toEqual(['sync /3', 'sync /4', 'getData /1', 'getData /2'])
  })
})

describe('RequestQueue.interrupted', () => {
  test('RequestQueue.interrupted puts back in call order what was put off and waits for its turn, and what flew meanwhile', () => {
    const [one, two, three] = [read('/1'), read('/2'), read('/3')]
    const ledger = ledgerOf(one, two)
    ledger.send(0, ALL)
    ledger.enqueue(three)
    ledger.send(0, ALL)
    ledger.answered(false)
    ledger.putOff(one, 10)
    // Of a server that is too busy no more is asked while two are under way.
    expect(ledger.send(20, ALL)).toEqual([])
    ledger.interrupted()
    expect(ledger.send(30, ALL).flatMap(namesIn)).toEqual(['getData /1', 'getData /2', 'getData /3'])
  })
})

describe('RequestQueue.replace', () => {
  test('RequestQueue.replace puts another in the place of one that waits', () => {
    const [first, second, third] = [read('/a'), read('/b'), read('/c')]
    const ledger = ledgerOf(first, second, third)
    expect(ledger.replace(second, write('/other'))).toBe(true)
    expect(ledger.abandon(second)).toBe(true)
    ledger.prepend([sync('/first')])
    expect(ledger.flow).toMatchObject({ waiting: 4 })
    expect(ledger.send(0, ALL).flatMap(namesIn)).toEqual(['sync /first', 'getData /a', 'setData /other', 'getData /c'])
    expect(ledger.flow).toMatchObject({ waiting: 0, waitingBytes: 0 })
  })

  test('RequestQueue.replace puts another in the place of one that a busy server has put off', () => {
    const first = read('/a')
    const ledger = ledgerOf(first)
    ledger.send(0, ALL)
    ledger.answered(false)
    ledger.putOff(first, 100)
    expect(ledger.replace(first, read('/other'))).toBe(true)
    ledger.abandon(first)
    expect(ledger.send(100, ALL).flatMap(namesIn)).toEqual(['getData /other'])
    expect(ledger.flow).toMatchObject({ waiting: 0, waitingBytes: 0 })
  })

  test('RequestQueue.replace leaves what is taken out to be told', () => {
    const [one, other] = [read('/a'), read('/b')]
    const ledger = ledgerOf(one)
    ledger.replace(one, other)
    expect(ledger.clear()).toEqual([{ request: other, wasSent: false }])
    expect(ledger.flow).toMatchObject({ waiting: 0, waitingBytes: 0 })
  })

  test('RequestQueue.replace takes nothing in for one that does not wait', () => {
    const [sent, unknown] = [read('/a'), read('/b')]
    const ledger = ledgerOf(sent)
    ledger.send(0, ALL)
    expect([ledger.replace(sent, read()), ledger.replace(unknown, read())]).toEqual([false, false])
    expect(ledger.send(0, ALL)).toEqual([])
  })
})

describe('RequestQueue.abandon', () => {
  test('RequestQueue.abandon takes an unsent request out of the queue', () => {
    const request = write()
    const ledger = ledgerOf(request)
    expect(ledger.abandon(request)).toBe(true)
    expect(request.phase).toEqual({ name: 'settled' })
    expect(ledger.send(0, ALL)).toEqual([])
  })

  test('RequestQueue.abandon leaves a tombstone for a sent request, because its reply still comes', () => {
    const request = write()
    const ledger = ledgerOf(request)
    ledger.send(3, ALL)
    expect(ledger.abandon(request)).toBe(true)
    expect(request.phase).toEqual({ name: 'abandoned', xid: 1, at: 3 })
    expect(ledger.oldest).toBe(request)
  })

  test('RequestQueue.abandon is false for what is settled: once, sent or not', () => {
    const [sent, unsent] = [read(), read()]
    const ledger = ledgerOf(sent)
    ledger.send(0, ALL)
    ledger.enqueue(unsent)
    for (const request of [sent, unsent]) {
      expect(ledger.abandon(request)).toBe(true)
      expect(ledger.abandon(request)).toBe(false)
    }
  })
})

describe('RequestQueue.interrupted', () => {
  test('RequestQueue.interrupted repeats sent reads and neither, in call order, ahead of what was not sent, renumbered', () => {
    const sent = [read('/1'), write('/2'), sync('/3'), read('/4')]
    const ledger = ledgerOf(...sent)
    ledger.send(0, ALL)
    ledger.enqueue(write('/5'))
    ledger.enqueue(read('/6'))
    ledger.interrupted()
    expect(sent.map(({ phase }) => phase.name)).toEqual(['unsent', 'settled', 'unsent', 'unsent'])
    const again = ledger.send(9, ALL).flatMap((frame) => requestsIn(frame))
    expect(again).toMatchObject([
      { xid: 5, body: { path: '/1' } },
      { xid: 6, body: { path: '/3' } },
      { xid: 7, body: { path: '/4' } },
      { xid: 8, body: { path: '/5' } },
      { xid: 9, body: { path: '/6' } },
    ])
  })

  test('RequestQueue.interrupted gives sent writes, and never sends them again', () => {
    const [sent, unsent] = [write('/1'), write('/2')]
    const ledger = ledgerOf(sent)
    ledger.send(0, ALL)
    ledger.enqueue(unsent)
    expect(ledger.interrupted()).toEqual({ tombstones: [], unknown: [sent], leftWrites: true })
    expect(ledger.send(0, ALL)).toHaveLength(1)
    expect(ledger.oldest).toBe(unsent)
  })

  test('RequestQueue.interrupted forgets what was the connection’s own, sent or not', () => {
    const ledger = ledgerOf(own())
    ledger.send(0, ALL)
    ledger.enqueue(own())
    expect(ledger.interrupted()).toEqual({ tombstones: [], unknown: [], leftWrites: false })
    expect(ledger.send(0, ALL)).toEqual([])
  })

  test('RequestQueue.interrupted forgets tombstones; that of a write still counts as a write left without an answer', () => {
    const [first, second] = [read(), write()]
    const ledger = ledgerOf(first, second)
    ledger.send(0, ALL)
    ledger.abandon(first)
    ledger.abandon(second)
    expect(ledger.interrupted()).toEqual({ tombstones: [first, second], unknown: [], leftWrites: true })
    expect([first.phase.name, second.phase.name]).toEqual(['settled', 'settled'])
    expect(ledger.send(0, ALL)).toEqual([])
  })

  test('RequestQueue.interrupted says of answered and of unsent writes that none was left', () => {
    const ledger = ledgerOf(write())
    ledger.send(0, ALL)
    ledger.answered()
    ledger.enqueue(write())
    expect(ledger.interrupted().leftWrites).toBe(false)
  })
})

describe('RequestQueue.overdue', () => {
  test('RequestQueue.overdue gives the requests whose time is up, in call order, and leaves them', () => {
    const requests = [20, 10, 30].map((expiresAt) => read('/', { expiresAt }))
    const ledger = ledgerOf(...requests)
    ledger.send(0, 1)
    expect(ledger.overdue(9)).toEqual([])
    expect(ledger.overdue(20)).toEqual([requests[0], requests[1]])
    expect(ledger.oldest).toBe(requests[0])
  })

  test('RequestQueue.overdue gives no tombstone', () => {
    const request = read('/', { expiresAt: 10 })
    const ledger = ledgerOf(request, read('/', { expiresAt: 11 }))
    ledger.send(0, ALL)
    ledger.abandon(request)
    expect(ledger.overdue(11)).not.toContain(request)
  })

  test('RequestQueue.nextTimeout is that of the request whose time is up first; Infinity when none waits', () => {
    const ledger = new RequestQueue()
    expect(ledger.nextTimeout).toBe(Infinity)
    ledger.enqueue(read('/', { expiresAt: 20 }))
    ledger.enqueue(read('/', { expiresAt: 10 }))
    ledger.enqueue(read())
    expect(ledger.nextTimeout).toBe(10)
  })

  test('RequestQueue.nextTimeout may stay too early when a request is settled; the next overdue puts it right', () => {
    const early = read('/', { expiresAt: 10 })
    const ledger = ledgerOf(early, read('/', { expiresAt: 20 }))
    ledger.abandon(early)
    expect(ledger.nextTimeout).toBe(10)
    expect(ledger.overdue(10)).toEqual([])
    expect(ledger.nextTimeout).toBe(20)
  })
})

describe('RequestQueue.clear', () => {
  test('RequestQueue.clear takes out all that waits, sent first, and tells which had left; tombstones nobody waits for', () => {
    const [tombstone, sent, unsent] = [read(), write(), write('/write', { expiresAt: 10 })]
    const ledger = ledgerOf(tombstone, sent)
    ledger.send(0, ALL)
    ledger.enqueue(unsent)
    ledger.abandon(tombstone)
    expect(ledger.clear()).toEqual([
      { request: sent, wasSent: true },
      { request: unsent, wasSent: false },
    ])
    expect([sent.phase.name, unsent.phase.name]).toEqual(['settled', 'settled'])
    expect([ledger.oldest, ledger.nextTimeout, ledger.send(0, ALL), ledger.clear()]).toEqual([
      undefined,
      Infinity,
      [],
      [],
    ])
  })
})

/** The ledger as two plain lists, looked through anew at every step. */
class Model {
  unsent: Request[] = []
  sent: Request[] = []
  readonly abandoned = new Set<Request>()

  get waiting(): Request[] {
    return [...this.sent.filter((request) => !this.abandoned.has(request)), ...this.unsent]
  }

  send(count: number): Request[] {
    const leaving = this.unsent.splice(0, count)
    this.sent.push(...leaving)
    return leaving
  }

  abandon(request: Request): boolean {
    if (!this.waiting.includes(request)) return false
    if (this.sent.includes(request)) this.abandoned.add(request)
    else this.unsent = this.unsent.filter((other) => other !== request)
    return true
  }

  interrupted() {
    const tombstones = this.sent.filter((request) => this.abandoned.has(request))
    const alive = this.sent.filter((request) => !this.abandoned.has(request))
    const leftWrites = this.sent.some(({ kind }) => kind === 'write')
    this.sent = []
    this.unsent = [
      ...alive.filter(({ kind }) => kind === 'read' || kind === 'neither'),
      ...this.unsent.filter(({ kind }) => kind !== 'connection'),
    ]
    return { tombstones, unknown: alive.filter(({ kind }) => kind === 'write'), leftWrites }
  }

  clear() {
    const [sent, unsent] = [this.waiting.filter((request) => this.sent.includes(request)), this.unsent]
    ;[this.sent, this.unsent] = [[], []]
    return [
      ...sent.map((request) => ({ request, wasSent: true })),
      ...unsent.map((request) => ({ request, wasSent: false })),
    ]
  }
}

const made = fc.record({ make: fc.constantFrom(read, write, sync, own), patience: fc.constantFrom(1, 5, 20, Infinity) })
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ does: fc.constant('enqueue' as const), made }) },
  { weight: 3, arbitrary: fc.record({ does: fc.constant('send' as const), count: fc.integer({ min: 1, max: 4 }) }) },
  { weight: 3, arbitrary: fc.record({ does: fc.constant('answered' as const) }) },
  { weight: 2, arbitrary: fc.record({ does: fc.constant('abandon' as const), which: fc.nat() }) },
  { weight: 2, arbitrary: fc.record({ does: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 10 }) }) },
  {
    weight: 1,
    arbitrary: fc.record({ does: fc.constant('prepend' as const), made: fc.array(made, { maxLength: 3 }) }),
  },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('interrupted' as const) }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('clear' as const) }) },
)
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never

test('RequestQueue does what two plain lists do', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const [ledger, model, all] = [new RequestQueue(), new Model(), [] as Request[]]
      let now = 0
      for (const each of steps) {
        if (each.does === 'pass') now += each.ms
        take(each, { ledger, model, all, now })
        expect(ledger.oldest).toBe(model.sent[0])
        // Never later than the truth.
        const expiries = model.waiting.map(({ expiresAt }) => expiresAt).filter((expiresAt) => expiresAt > now)
        expect(ledger.nextTimeout).toBeLessThanOrEqual(Math.min(...expiries))
      }
      expect(ledger.clear()).toEqual(model.clear())
    }),
    { numRuns: 300 },
  )
})

interface Both {
  readonly ledger: RequestQueue
  readonly model: Model
  readonly all: Request[]
  readonly now: number
}

/** Takes one step with both, and compares what they say. */
function take(each: Step, { ledger, model, all, now }: Both): void {
  const makeOf = ({ make, patience }: typeof made extends fc.Arbitrary<infer M> ? M : never) => {
    // A path of its own, so that no two of them are equal.
    const request = make === own ? own() : make(`/${all.length}`, { expiresAt: now + patience })
    all.push(request)
    return request
  }
  switch (each.does) {
    case 'enqueue': {
      const request = makeOf(each.made)
      ledger.enqueue(request)
      model.unsent.push(request)
      return
    }
    case 'prepend': {
      // As the exchange does it: requests of its own, without a time limit.
      const requests = each.made.map(() => own())
      ledger.prepend(requests)
      model.unsent.unshift(...requests)
      return
    }
    case 'send': {
      for (let count = 0; count < each.count; count++) {
        const leaving = model.send(1)
        expect(ledger.send(now, 1)).toHaveLength(leaving.length)
        for (const { phase } of leaving) expect(phase).toMatchObject({ name: 'sent', at: now })
      }
      return
    }
    case 'answered':
      ledger.answered()
      model.sent.shift()
      return
    case 'abandon': {
      const request = all[each.which % all.length]
      if (request === undefined || request.phase.name === 'settled') return
      // Answered requests are settled by the exchange, which this model has not.
      if (!model.sent.includes(request) && !model.unsent.includes(request)) return
      expect(ledger.abandon(request)).toBe(model.abandon(request))
      return
    }
    case 'pass': {
      const overdue = ledger.overdue(now)
      expect(overdue).toEqual(model.waiting.filter(({ expiresAt }) => expiresAt <= now))
      for (const request of overdue) expect(ledger.abandon(request)).toBe(model.abandon(request))
      return
    }
    case 'interrupted':
      expect(ledger.interrupted()).toEqual(model.interrupted())
      return
    case 'clear':
      expect(ledger.clear()).toEqual(model.clear())
  }
}
