import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { expect, onTestFinished, test } from 'vitest'
import type { ClientMessages } from '../../src/index.ts'
import { FrameTrace } from '../../src/telemetry/frame-trace.ts'
import { connectReply, pingReply } from '../support/machine-frames.ts'

test('FrameTrace reads a frame that comes in pieces, each in the same memory', () => {
  const frames: ClientMessages['zk:frame'][] = []
  const onFrame = (message: unknown) => void frames.push(message as ClientMessages['zk:frame'])
  subscribe('zk:frame', onFrame)
  onTestFinished(() => void unsubscribe('zk:frame', onFrame))
  const trace = new FrameTrace('received')
  const memory = new Uint8Array(1)
  for (const byte of [...connectReply(), ...pingReply(), ...pingReply()]) {
    memory[0] = byte
    trace.take(memory, { sessionId: 1n, server: 'zk1:2181' })
  }
  expect(frames.map(({ xid, err }) => [xid, err])).toEqual([
    [undefined, undefined],
    [-2, 0],
    [-2, 0],
  ])
})
