import { expect, test } from 'vitest'
import { FrameDecoder, formatServer, printable, ProtocolError } from '../src/index.ts'

test('printable escapes only the characters that a terminal or a log obeys', () => {
  expect(printable('a\u001b[31m\r\n\u0000\u007f\u009b2J')).toBe('a\\u001b[31m\\u000d\\u000a\\u0000\\u007f\\u009b2J')
  expect(printable('\u202eabc\u2066\u2028\u2029\u061c\ufeff')).toBe('\\u202eabc\\u2066\\u2028\\u2029\\u061c\\ufeff')
  const plain = 'grün, עברית, 日本語, 🦓 "quoted" \\x1b'
  expect(printable(plain)).toBe(plain)
})

test('ProtocolError and formatServer show text of a server escaped', () => {
  expect(new ProtocolError('a child \u001b[2J').message).toBe('a child \\u001b[2J')
  expect(new ProtocolError('a child \u001b[2J').within('A').message).toBe('a child \\u001b[2J in A')
  expect(formatServer({ host: 'a\u001bb', port: 1 })).toBe('a\\u001bb:1')
  const decoder = new FrameDecoder()
  decoder.push(new TextEncoder().encode('HTTP\r\n'))
  expect(() => decoder.next()).toThrow(/^text in place of a frame: "HTTP"/)
})
