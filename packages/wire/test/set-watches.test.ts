import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  encode,
  encodeFrame,
  OpCode,
  operationName,
  operations,
  RequestHeader,
  SetWatches,
  SetWatches2,
  setWatchesRequests,
  type Type,
  Xid,
} from '../src/index.ts'

const LISTS = [
  'dataWatches',
  'existWatches',
  'childWatches',
  'persistentWatches',
  'persistentRecursiveWatches',
] as const
const KIB = 1024

describe('setWatchesRequests', () => {
  test('setWatchesRequests makes one request of few paths, the older one as long as none is persistent', () => {
    const none = {
      dataWatches: [],
      existWatches: [],
      childWatches: [],
      persistentWatches: [],
      persistentRecursiveWatches: [],
    }
    expect(setWatchesRequests(7n, { dataWatches: ['/a', '/b'], childWatches: new Set(['/a']) })).toEqual([
      {
        opCode: OpCode.setWatches,
        request: { ...none, relativeZxid: 7n, dataWatches: ['/a', '/b'], childWatches: ['/a'] },
      },
    ])
    for (const list of ['persistentWatches', 'persistentRecursiveWatches'] as const) {
      expect(setWatchesRequests(7n, { existWatches: ['/a'], [list]: ['/b'] })).toEqual([
        { opCode: OpCode.setWatches2, request: { ...none, relativeZxid: 7n, existWatches: ['/a'], [list]: ['/b'] } },
      ])
    }
  })

  test('setWatchesRequests makes none of no paths', () => {
    expect(setWatchesRequests(7n, {})).toEqual([])
    expect(setWatchesRequests(7n, { dataWatches: [], persistentWatches: [] })).toEqual([])
  })

  test('setWatchesRequests gives a value that its operation writes', () => {
    const [older] = setWatchesRequests(7n, { dataWatches: ['/a'] })
    expect(encode(SetWatches, older!.request)).toEqual(
      encode(SetWatches, { relativeZxid: 7n, dataWatches: ['/a'], existWatches: [], childWatches: [] }),
    )
    const [newer] = setWatchesRequests(7n, { persistentWatches: ['/a'] })
    expect(operations[operationName(newer!.opCode)!].request).toBe(SetWatches2)
  })

  test('setWatchesRequests keeps 10,000 paths below 32 KiB a frame, and no chunk much smaller', () => {
    const paths = Array.from({ length: 10_000 }, (_, index) => `/services/report/${'é'.repeat(20)}/${index}`)
    const requests = setWatchesRequests(7n, { dataWatches: paths, childWatches: paths, persistentWatches: paths })
    const sizes = requests.map(sizeOf)
    expect(Math.max(...sizes)).toBeLessThanOrEqual(32 * KIB)
    expect(Math.min(...sizes.slice(0, -1))).toBeGreaterThan(31 * KIB)
  })

  test('setWatchesRequests gives a path that is longer than a chunk one of its own', () => {
    const long = `/${'x'.repeat(200)}`
    const requests = setWatchesRequests(7n, { dataWatches: ['/a', long, '/b'] }, 100)
    expect(requests.map(({ request }) => request.dataWatches)).toEqual([['/a'], [long], ['/b']])
  })

  test('setWatchesRequests loses no path, keeps their order, and fills no frame beyond the size', () => {
    const paths = fc.array(
      fc.string({ maxLength: 30 }).map((name) => `/${name}`),
      { maxLength: 40, size: 'max' },
    )
    const watched = fc.record(Object.fromEntries(LISTS.map((list) => [list, paths])), { requiredKeys: [] })
    fc.assert(
      fc.property(watched, fc.integer({ min: 160, max: 600 }), (watched, chunkSize) => {
        const requests = setWatchesRequests(7n, watched, chunkSize)
        for (const list of LISTS) {
          expect(requests.flatMap(({ request }) => request[list])).toEqual(watched[list] ?? [])
        }
        for (const request of requests) expect(sizeOf(request)).toBeLessThanOrEqual(chunkSize)
      }),
    )
  })
})

/** The size of the frame without its length. */
function sizeOf({ opCode, request }: ReturnType<typeof setWatchesRequests>[number]): number {
  const type: Type<unknown> = opCode === OpCode.setWatches ? SetWatches : SetWatches2
  const frame = encodeFrame((writer) => {
    RequestHeader.write(writer, { xid: Xid.setWatches, type: opCode })
    type.write(writer, request)
  })
  return frame.byteLength - 4
}
