import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Flow, NO_LIMITS } from '../src/session/requests/flow.ts'
import { RequestQueue } from '../src/session/requests/request-queue.ts'
import type { Request } from '../src/session/requests/request.ts'
import { Window } from '../src/session/requests/window.ts'
import { namesIn, requestsIn } from './support/machine-frames.ts'
import { own, read, sendFrom, sync, write } from './support/made-requests.ts'

const ALL = Infinity

function queueOf(...requests: readonly Request[]): RequestQueue {
  const queue = new RequestQueue()
  for (const request of requests) queue.enqueue(request)
  return queue
}

/** The xids that a `send` puts on the wire. */
function sentXids(queue: RequestQueue, { now = 0, limit = ALL } = {}): number[] {
  return sendFrom(queue, now, limit).flatMap((frame) => requestsIn(frame).map(({ xid }) => xid))
}

describe('RequestQueue.hasRoomFor', () => {
  test.each([
    ['requests', { maxWaiting: 1 }],
    ['bytes', { maxWaitingBytes: 1 }],
  ])('RequestQueue.hasRoomFor counts the %s that wait, those that a busy server has put off as well', (_, limits) => {
    const queue = new RequestQueue(1, { ...NO_LIMITS, ...limits })
    const request = read('/a')
    expect(queue.hasRoomFor(read('/b'))).toBe(true)
    queue.enqueue(request)
    expect(queue.hasRoomFor(read('/b'))).toBe(false)
    sendFrom(queue, 0, ALL)
    expect(queue.hasRoomFor(read('/b'))).toBe(true)
    queue.answered(false)
    queue.putOff(request, 100)
    expect(queue.hasRoomFor(read('/b'))).toBe(false)
  })
})

describe('RequestQueue.send', () => {
  test('RequestQueue.send gives the requests in call order, numbered from 1', () => {
    const [first, second] = [read('/a'), write('/b')]
    const queue = queueOf(first, second)
    const sent = sendFrom(queue, 5, ALL).flatMap((frame) => requestsIn(frame))
    expect(sent).toMatchObject([
      { xid: 1, body: { path: '/a' } },
      { xid: 2, body: { path: '/b' } },
    ])
    expect([first, second]).toMatchObject([
      { phase: 'sent', xid: 1, sentAt: 5 },
      { phase: 'sent', xid: 2, sentAt: 5 },
    ])
    expect(sendFrom(queue, 6, ALL)).toEqual([])
  })

  test('RequestQueue.send numbers when it sends: a request that is abandoned before uses up no xid', () => {
    const requests = [read(), read(), read()]
    const queue = queueOf(...requests)
    queue.abandon(requests[1]!)
    expect(sentXids(queue)).toEqual([1, 2])
  })

  test('RequestQueue.send goes up to xid 2³¹ - 2 and on from 1, as Java does', () => {
    const queue = new RequestQueue(2 ** 31 - 3)
    for (let count = 0; count < 4; count++) queue.enqueue(read())
    expect(sentXids(queue)).toEqual([2 ** 31 - 3, 2 ** 31 - 2, 1, 2])
  })

  test('RequestQueue.send leaves its own xid as it is, and uses up no other for it', () => {
    expect(sentXids(queueOf(read(), own(), read()))).toEqual([1, -8, 2])
  })

  test('RequestQueue.send stops once the limit is reached, and gives one request however long it is', () => {
    const { size } = read()
    const queue = queueOf(read(), read(), read(), read())
    expect(sentXids(queue, { limit: 2 * (size + 4) })).toEqual([1, 2])
    expect(sentXids(queue, { limit: 1 })).toEqual([3])
    expect(sentXids(queue, { limit: 0 })).toEqual([])
    expect(sentXids(queue)).toEqual([4])
  })
})

describe('RequestQueue.oldest', () => {
  test('RequestQueue.oldest is the request that the next reply must be about', () => {
    const [first, second] = [read(), read()]
    const queue = queueOf(first, second)
    expect(queue.oldest).toBeUndefined()
    sendFrom(queue, 0, ALL)
    expect(queue.oldest).toBe(first)
    queue.answered()
    expect(queue.oldest).toBe(second)
    queue.answered()
    expect(queue.oldest).toBeUndefined()
  })

  test('RequestQueue.oldestSentAt is when it left, also when no caller waits for it any more', () => {
    const [first, second] = [read(), read()]
    const queue = queueOf(first)
    expect(queue.oldestSentAt).toBeUndefined()
    sendFrom(queue, 10, ALL)
    queue.enqueue(second)
    sendFrom(queue, 20, ALL)
    queue.abandon(first)
    expect(queue.oldestSentAt).toBe(10)
    queue.answered()
    expect(queue.oldestSentAt).toBe(20)
  })
})

describe('RequestQueue.prepend', () => {
  test('RequestQueue.prepend puts requests before all that wait, in their order', () => {
    const queue = queueOf(read('/1'), read('/2'))
    queue.prepend([sync('/3'), sync('/4')])
    expect(sendFrom(queue, 0, ALL).flatMap(namesIn)).toEqual(['sync /3', 'sync /4', 'getData /1', 'getData /2'])
  })
})

describe('RequestQueue.interrupted', () => {
  test('RequestQueue.interrupted puts back in call order what was put off and waits for its turn, and what flew meanwhile', () => {
    const [one, two, three] = [read('/1'), read('/2'), read('/3')]
    const queue = queueOf(one, two)
    sendFrom(queue, 0, ALL)
    queue.enqueue(three)
    sendFrom(queue, 0, ALL)
    queue.answered(false)
    queue.putOff(one, 10)
    // A server that is too busy gets no further request while two are under way.
    expect(sendFrom(queue, 20, ALL)).toEqual([])
    queue.interrupted()
    expect(sendFrom(queue, 30, ALL).flatMap(namesIn)).toEqual(['getData /1', 'getData /2', 'getData /3'])
  })
})

describe('RequestQueue.replace', () => {
  test('RequestQueue.replace puts another in the place of one that waits', () => {
    const [first, second, third] = [read('/a'), read('/b'), read('/c')]
    const queue = queueOf(first, second, third)
    expect(queue.replace(second, write('/other'))).toBe(true)
    expect(queue.abandon(second)).toBe(true)
    queue.prepend([sync('/first')])
    expect(queue.flow).toMatchObject({ waiting: 4 })
    expect(sendFrom(queue, 0, ALL).flatMap(namesIn)).toEqual([
      'sync /first',
      'getData /a',
      'setData /other',
      'getData /c',
    ])
    expect(queue.flow).toMatchObject({ waiting: 0, waitingBytes: 0 })
  })

  test('RequestQueue.replace puts another in the place of one that a busy server has put off', () => {
    const first = read('/a')
    const queue = queueOf(first)
    sendFrom(queue, 0, ALL)
    queue.answered(false)
    queue.putOff(first, 100)
    expect(queue.replace(first, read('/other'))).toBe(true)
    queue.abandon(first)
    expect(sendFrom(queue, 100, ALL).flatMap(namesIn)).toEqual(['getData /other'])
    expect(queue.flow).toMatchObject({ waiting: 0, waitingBytes: 0 })
  })

  test('RequestQueue.replace settles nothing that it takes out', () => {
    const [one, other] = [read('/a'), read('/b')]
    const queue = queueOf(one)
    queue.replace(one, other)
    expect(queue.clear()).toEqual([{ request: other, wasSent: false }])
    expect(queue.flow).toMatchObject({ waiting: 0, waitingBytes: 0 })
  })

  test('RequestQueue.replace takes nothing in for one that does not wait', () => {
    const [sent, unknown] = [read('/a'), read('/b')]
    const queue = queueOf(sent)
    sendFrom(queue, 0, ALL)
    expect([queue.replace(sent, read()), queue.replace(unknown, read())]).toEqual([false, false])
    expect(sendFrom(queue, 0, ALL)).toEqual([])
  })
})

describe('RequestQueue.abandon', () => {
  test('RequestQueue.abandon takes an unsent request out of the queue', () => {
    const request = write()
    const queue = queueOf(request)
    expect(queue.abandon(request)).toBe(true)
    expect(request.phase).toBe('settled')
    expect(sendFrom(queue, 0, ALL)).toEqual([])
  })

  test('RequestQueue.abandon leaves a tombstone for a sent request, because its reply still comes', () => {
    const request = write()
    const queue = queueOf(request)
    sendFrom(queue, 3, ALL)
    expect(queue.abandon(request)).toBe(true)
    expect(request).toMatchObject({ phase: 'abandoned', xid: 1, sentAt: 3 })
    expect(queue.oldest).toBe(request)
  })

  test('RequestQueue.abandon is false for what is settled: once, sent or not', () => {
    const [sent, unsent] = [read(), read()]
    const queue = queueOf(sent)
    sendFrom(queue, 0, ALL)
    queue.enqueue(unsent)
    for (const request of [sent, unsent]) {
      expect(queue.abandon(request)).toBe(true)
      expect(queue.abandon(request)).toBe(false)
    }
  })
})

describe('RequestQueue.interrupted', () => {
  test('RequestQueue.interrupted repeats sent reads and neither, in call order, ahead of what was not sent, renumbered', () => {
    const sent = [read('/1'), write('/2'), sync('/3'), read('/4')]
    const queue = queueOf(...sent)
    sendFrom(queue, 0, ALL)
    queue.enqueue(write('/5'))
    queue.enqueue(read('/6'))
    queue.interrupted()
    expect(sent.map(({ phase }) => phase)).toEqual(['unsent', 'settled', 'unsent', 'unsent'])
    const again = sendFrom(queue, 9, ALL).flatMap((frame) => requestsIn(frame))
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
    const queue = queueOf(sent)
    sendFrom(queue, 0, ALL)
    queue.enqueue(unsent)
    expect(queue.interrupted()).toEqual({ tombstones: [], unknown: [sent], hasUnansweredWrites: true })
    expect(sendFrom(queue, 0, ALL)).toHaveLength(1)
    expect(queue.oldest).toBe(unsent)
  })

  test('RequestQueue.interrupted forgets what was the connection’s own, sent or not', () => {
    const queue = queueOf(own())
    sendFrom(queue, 0, ALL)
    queue.enqueue(own())
    expect(queue.interrupted()).toEqual({ tombstones: [], unknown: [], hasUnansweredWrites: false })
    expect(sendFrom(queue, 0, ALL)).toEqual([])
  })

  test('RequestQueue.interrupted forgets tombstones; that of a write still counts as a write left without an answer', () => {
    const [first, second] = [read(), write()]
    const queue = queueOf(first, second)
    sendFrom(queue, 0, ALL)
    queue.abandon(first)
    queue.abandon(second)
    expect(queue.interrupted()).toEqual({ tombstones: [first, second], unknown: [], hasUnansweredWrites: true })
    expect([first.phase, second.phase]).toEqual(['settled', 'settled'])
    expect(sendFrom(queue, 0, ALL)).toEqual([])
  })

  test('RequestQueue.interrupted says of answered and of unsent writes that none was left', () => {
    const queue = queueOf(write())
    sendFrom(queue, 0, ALL)
    queue.answered()
    queue.enqueue(write())
    expect(queue.interrupted().hasUnansweredWrites).toBe(false)
  })
})

describe('RequestQueue.overdue', () => {
  test('RequestQueue.overdue gives the requests whose time is up, in call order, and leaves them', () => {
    const requests = [20, 10, 30].map((expiresAt) => read('/', { expiresAt }))
    const queue = queueOf(...requests)
    sendFrom(queue, 0, 1)
    expect(queue.overdue(9)).toEqual([])
    expect(queue.overdue(20)).toEqual([requests[0], requests[1]])
    expect(queue.oldest).toBe(requests[0])
  })

  test('RequestQueue.overdue gives no tombstone', () => {
    const request = read('/', { expiresAt: 10 })
    const queue = queueOf(request, read('/', { expiresAt: 11 }))
    sendFrom(queue, 0, ALL)
    queue.abandon(request)
    expect(queue.overdue(11)).not.toContain(request)
  })

  test('RequestQueue.nextTimeout is that of the request whose time is up first; Infinity when none waits', () => {
    const queue = new RequestQueue()
    expect(queue.nextTimeout).toBe(Infinity)
    queue.enqueue(read('/', { expiresAt: 20 }))
    queue.enqueue(read('/', { expiresAt: 10 }))
    queue.enqueue(read())
    expect(queue.nextTimeout).toBe(10)
  })

  test('RequestQueue.nextTimeout may stay too early when a request is settled; the next overdue puts it right', () => {
    const early = read('/', { expiresAt: 10 })
    const queue = queueOf(early, read('/', { expiresAt: 20 }))
    queue.abandon(early)
    expect(queue.nextTimeout).toBe(10)
    expect(queue.overdue(10)).toEqual([])
    expect(queue.nextTimeout).toBe(20)
  })
})

describe('RequestQueue.clear', () => {
  test('RequestQueue.clear removes all requests, sent ones first, and marks which were sent; tombstones have no caller', () => {
    const [tombstone, sent, unsent] = [read(), write(), write('/write', { expiresAt: 10 })]
    const queue = queueOf(tombstone, sent)
    sendFrom(queue, 0, ALL)
    queue.enqueue(unsent)
    queue.abandon(tombstone)
    expect(queue.clear()).toEqual([
      { request: sent, wasSent: true },
      { request: unsent, wasSent: false },
    ])
    expect([sent.phase, unsent.phase]).toEqual(['settled', 'settled'])
    expect([queue.oldest, queue.nextTimeout, sendFrom(queue, 0, ALL), queue.clear()]).toEqual([
      undefined,
      Infinity,
      [],
      [],
    ])
  })
})

/** The queue as plain lists, looked through anew at every step. */
class Model {
  unsent: Request[] = []
  putOff: Request[] = []
  sent: Request[] = []
  heldUntil = -Infinity
  /** By the place of each in call order. */
  readonly #places = new Map<Request, number>()
  readonly #abandoned = new Set<Request>()
  readonly #window = new Window(Infinity)

  get #alive(): Request[] {
    return this.sent.filter((request) => !this.#abandoned.has(request))
  }

  get waiting(): Request[] {
    return [...this.#alive, ...this.putOff, ...this.unsent]
  }

  get flow(): Flow {
    const bytesOf = (requests: readonly Request[]) => requests.reduce((sum, { frameSize }) => sum + frameSize, 0)
    const waiting = [...this.putOff, ...this.unsent]
    const [waitingBytes, inFlightBytes] = [bytesOf(waiting), bytesOf(this.sent)]
    return { waiting: waiting.length, waitingBytes, inFlight: this.sent.length, inFlightBytes }
  }

  enqueue(request: Request): void {
    this.#places.set(request, this.#places.size)
    this.unsent.push(request)
  }

  resume(now: number): void {
    if (now < this.heldUntil) return
    this.heldUntil = -Infinity
    this.unsent.unshift(...this.putOff.splice(0))
  }

  /** The next one, where it may go. */
  send(now: number): Request | undefined {
    this.resume(now)
    const [next] = this.unsent
    if (next === undefined || this.heldUntil > -Infinity) return undefined
    const hasRoom = this.sent.length === 0 || this.sent.length < this.#window.size
    if (next.kind !== 'connection' && !hasRoom) return undefined
    this.unsent.shift()
    this.sent.push(next)
    return next
  }

  answered(): void {
    this.sent.shift()
    this.#window.executed()
  }

  /** The oldest was not executed. Gives it where it is to be sent again. */
  throttled(until: number): Request | undefined {
    const oldest = this.sent.shift()
    if (oldest === undefined || oldest.kind === 'connection' || this.#abandoned.has(oldest)) return undefined
    this.putOff.push(oldest)
    if (this.heldUntil > -Infinity) return oldest
    this.heldUntil = until
    this.#window.tooBusy(this.sent.length + 1)
    return oldest
  }

  overtaken(request: Request): Request | undefined {
    if (this.sent.indexOf(request) < 1) return undefined
    this.sent = this.sent.filter((each) => each !== request)
    return request
  }

  replace(request: Request, other: Request): boolean {
    this.#places.set(other, this.#places.get(request)!)
    for (const list of [this.unsent, this.putOff]) {
      const index = list.indexOf(request)
      if (index === -1) continue
      list[index] = other
      return true
    }
    return false
  }

  abandon(request: Request): boolean {
    if (!this.waiting.includes(request)) return false
    if (this.sent.includes(request)) this.#abandoned.add(request)
    this.unsent = this.unsent.filter((other) => other !== request)
    this.putOff = this.putOff.filter((other) => other !== request)
    return true
  }

  interrupted(): ReturnType<RequestQueue['interrupted']> {
    const tombstones = this.sent.filter((request) => this.#abandoned.has(request))
    const alive = this.#alive
    const hasUnansweredWrites = this.sent.some(({ kind }) => kind === 'write')
    const repeated = alive.filter(({ kind }) => kind === 'read' || kind === 'neither')
    const waiting = [...this.putOff, ...repeated, ...this.unsent].filter(({ kind }) => kind !== 'connection')
    ;[this.sent, this.putOff, this.heldUntil] = [[], [], -Infinity]
    this.unsent = waiting.sort((one, other) => this.#places.get(one)! - this.#places.get(other)!)
    this.#window.open()
    return { tombstones, unknown: alive.filter(({ kind }) => kind === 'write'), hasUnansweredWrites }
  }

  clear(): ReturnType<RequestQueue['clear']> {
    const [sent, unsent] = [this.#alive, [...this.putOff, ...this.unsent]]
    ;[this.sent, this.unsent, this.putOff, this.heldUntil] = [[], [], [], -Infinity]
    return [
      ...sent.map((request) => ({ request, wasSent: true })),
      ...unsent.map((request) => ({ request, wasSent: false })),
    ]
  }
}

const made = fc.record({ make: fc.constantFrom(read, write, sync), patience: fc.constantFrom(1, 5, 20, Infinity) })
const which = fc.nat()
const ms = fc.integer({ min: 1, max: 10 })
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ does: fc.constant('enqueue' as const), made }) },
  { weight: 3, arbitrary: fc.record({ does: fc.constant('send' as const), count: fc.integer({ min: 1, max: 4 }) }) },
  { weight: 3, arbitrary: fc.record({ does: fc.constant('answered' as const) }) },
  { weight: 2, arbitrary: fc.record({ does: fc.constant('throttled' as const), ms }) },
  { weight: 2, arbitrary: fc.record({ does: fc.constant('abandon' as const), which }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('replace' as const), which, made }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('overtaken' as const), which }) },
  { weight: 2, arbitrary: fc.record({ does: fc.constant('pass' as const), ms }) },
  {
    weight: 1,
    arbitrary: fc.record({ does: fc.constant('prepend' as const), count: fc.integer({ min: 0, max: 3 }) }),
  },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('interrupted' as const) }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('clear' as const) }) },
)
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never
type Made = typeof made extends fc.Arbitrary<infer M> ? M : never

test('RequestQueue does what plain lists do', () => {
  fc.assert(
    // Short ones alone would be drawn without the size.
    fc.property(fc.array(step, { maxLength: 60, size: 'max' }), (steps) => {
      const [queue, model, all] = [new RequestQueue(), new Model(), [] as Request[]]
      let now = 0
      for (const each of steps) {
        if (each.does === 'pass') now += each.ms
        take(each, { queue, model, all, now })
        expect(queue.oldest).toBe(model.sent[0])
        expect(queue.flow).toEqual(model.flow)
        expect(queue.isHeld).toBe(model.heldUntil > -Infinity)
        // Never later than the truth.
        const expiries = model.waiting.map(({ expiresAt }) => expiresAt).filter((expiresAt) => expiresAt > now)
        const due = model.heldUntil > -Infinity ? [...expiries, model.heldUntil] : expiries
        expect(queue.nextTimeout).toBeLessThanOrEqual(Math.min(...due))
      }
      expect(queue.clear()).toEqual(model.clear())
    }),
    { numRuns: 300 },
  )
})

interface Both {
  readonly queue: RequestQueue
  readonly model: Model
  readonly all: Request[]
  readonly now: number
}

/** Takes one step with both, and compares what they give. */
function take(each: Step, { queue, model, all, now }: Both): void {
  const makeOf = ({ make, patience }: Made) => {
    // A path of its own, so that no two of them are equal.
    const request = make(`/${all.length}`, { expiresAt: now + patience })
    all.push(request)
    return request
  }
  const oneOf = ({ which }: { readonly which: number }) => all[which % all.length]
  switch (each.does) {
    case 'enqueue': {
      const request = makeOf(each.made)
      queue.enqueue(request)
      model.enqueue(request)
      return
    }
    case 'prepend': {
      // As the pipeline does it: requests of its own, without a time limit.
      const requests = Array.from({ length: each.count }, () => own())
      queue.prepend(requests)
      model.unsent.unshift(...requests)
      return
    }
    case 'send': {
      for (let count = 0; count < each.count; count++) {
        const leaving = model.send(now)
        expect(sendFrom(queue, now, 1)).toHaveLength(leaving === undefined ? 0 : 1)
        if (leaving !== undefined) expect(leaving).toMatchObject({ phase: 'sent', sentAt: now })
      }
      return
    }
    case 'answered':
      queue.answered()
      model.answered()
      return
    case 'throttled': {
      const { oldest } = queue
      if (oldest === undefined) return
      queue.answered(false)
      const again = model.throttled(now + each.ms)
      if (again !== undefined) queue.putOff(oldest, now + each.ms)
      return
    }
    case 'abandon': {
      const request = oneOf(each)
      if (request === undefined || request.phase === 'settled') return
      // Answered requests are settled by the pipeline, which this model has not.
      if (!model.sent.includes(request) && !model.waiting.includes(request)) return
      expect(queue.abandon(request)).toBe(model.abandon(request))
      return
    }
    case 'replace': {
      const request = oneOf(each)
      if (request === undefined) return
      const other = makeOf({ ...each.made, patience: Infinity })
      const isReplaced = model.replace(request, other)
      expect(queue.replace(request, other)).toBe(isReplaced)
      return
    }
    case 'overtaken': {
      const request = oneOf(each)
      if (request?.xid === undefined || !model.sent.includes(request)) return
      expect(queue.takeOvertaking(request.xid)).toBe(model.overtaken(request))
      return
    }
    case 'pass': {
      queue.resume(now)
      model.resume(now)
      const overdue = queue.overdue(now)
      expect(overdue).toEqual(model.waiting.filter(({ expiresAt }) => expiresAt <= now))
      for (const request of overdue) expect(queue.abandon(request)).toBe(model.abandon(request))
      return
    }
    case 'interrupted':
      expect(queue.interrupted()).toEqual(model.interrupted())
      return
    case 'clear':
      expect(queue.clear()).toEqual(model.clear())
  }
}
