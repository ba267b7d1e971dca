import { expect, test } from 'vitest'
import type { ClientMessages } from '../../src/index.ts'
import { FrameTrace } from '../../src/telemetry/frame-trace.ts'
import { connectReply, pingReply } from '../support/machine-frames.ts'

test('FrameTrace reads a frame that comes in pieces, each in the same memory', () => {
  const frames: ClientMessages['zk:frame'][] = []
  const trace = new FrameTrace('received', (message) => frames.push(message))
  const memory = new Uint8Array(1)
  for (const byte of [...connectReply(), ...pingReply(), ...pingReply()]) {
    memory[0] = byte
    trace.take(memory, { client: 'zk1:2181', sessionId: 1n, server: 'zk1:2181' })
  }
  expect(frames.map(({ xid, err }) => [xid, err])).toEqual([
    [undefined, undefined],
    [-2, 0],
    [-2, 0],
  ])
})
