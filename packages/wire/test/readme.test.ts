import { readFileSync } from 'node:fs'
import { expect, test, vi } from 'vitest'
import { encodeFrame, ErrorCode, GetDataResponse, ReplyHeader } from '../src/index.ts'
import { bytesOf, hexOf } from './bytes.ts'
import { received, request } from './readme-example.ts'
import { stat } from './stat.ts'

const sourceOf = (file: string) => readFileSync(new URL(file, import.meta.url), 'utf8')

const shown = Array.from(sourceOf('../README.md').matchAll(/```ts\n([^]*?)```/g), ([, code]) => code)

test('README shows the example that runs here', () => {
  const [ran] = sourceOf('readme-example.ts').replace('../src/index.ts', '@zk/wire').split('\nexport {')
  expect(shown[0]).toBe(ran)
})

// examples/test/wire-proxy.test.ts runs it.
test('README shows the proxy of the examples', () => {
  const [, code] = sourceOf('../../../examples/src/wire-proxy.ts').split(/^(?:\/\/.*\n)+/)
  expect(shown[1]).toBe(code)
})

test('the example of README writes a request and reads a reply and an error', () => {
  const log = vi.spyOn(console, 'log').mockImplementation(() => {})
  expect(hexOf(request)).toBe('00000014 00000001 00000004 00000007 2f636f6e666967 00'.replaceAll(' ', ''))
  received(
    encodeFrame((writer) => {
      ReplyHeader.write(writer, { xid: 1, zxid: 9n, err: 0 })
      GetDataResponse.write(writer, { data: bytesOf('beef'), stat })
    }),
  )
  received(encodeFrame((writer) => ReplyHeader.write(writer, { xid: 2, zxid: 9n, err: ErrorCode.NoNode })))
  expect(log.mock.calls).toEqual([
    [1, 5],
    [2, 'NoNode'],
  ])
  log.mockRestore()
})
