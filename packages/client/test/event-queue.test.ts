import { describe, expect, test } from 'vitest'
import { EventQueue } from '../src/base/event-queue.ts'
import { outcome } from './support/index.ts'

const newQueue = (limit = 3) => new EventQueue<string>(limit, () => 'overflow')
const take = async (queue: EventQueue<string>) => await queue.take()
const over = { value: undefined, done: true }
const item = (value: string) => ({ value, done: false })
const settled = () => new Promise((resolve) => setImmediate(resolve))

describe('EventQueue', () => {
  test('EventQueue gives items in order, whether they or the takers come first', async () => {
    const queue = newQueue()
    const early = [take(queue), take(queue)]
    for (const each of ['a', 'b', 'c', 'd']) queue.push(each)
    expect(await Promise.all([...early, take(queue), take(queue)])).toEqual(['a', 'b', 'c', 'd'].map(item))
  })

  test('EventQueue holds as many items as its limit says, and becomes one at one more', async () => {
    const queue = newQueue(2)
    for (const each of ['a', 'b', 'c', 'd']) queue.push(each)
    expect([await take(queue), await take(queue)]).toEqual([item('overflow'), item('d')])
  })

  test('EventQueue.end has room for the last item, and gives nothing behind it', async () => {
    const queue = newQueue(1)
    queue.push('a')
    queue.end('last')
    queue.push('late')
    expect([await take(queue), await take(queue), await take(queue)]).toEqual([item('a'), item('last'), over])
    const waiting = newQueue()
    const takers = [take(waiting), take(waiting)]
    waiting.end('last')
    expect(await Promise.all(takers)).toEqual([item('last'), over])
  })

  test('EventQueue.fail throws once: in the waiting call, or after the queued items', async () => {
    const queue = newQueue()
    queue.push('a')
    queue.fail(new Error('refused'))
    expect(await take(queue)).toEqual(item('a'))
    await expect(take(queue)).rejects.toThrow('refused')
    expect(await take(queue)).toEqual(over)
    const waiting = newQueue()
    const [first, second] = [outcome(take(waiting)), outcome(take(waiting))]
    waiting.fail(new Error('refused'))
    await settled()
    expect(first.error).toHaveProperty('message', 'refused')
    expect([second.value, await take(waiting)]).toEqual([over, over])
  })

  test('EventQueue.close drops its items, and an error that was not delivered yet', async () => {
    const queue = newQueue()
    queue.push('a')
    queue.fail(new Error('refused'))
    queue.close()
    queue.end('late')
    expect(await take(queue)).toEqual(over)
    const waiting = newQueue()
    const taker = take(waiting)
    waiting.close()
    expect(await taker).toEqual(over)
  })
})
