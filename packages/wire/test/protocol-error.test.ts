import { describe, expect, test } from 'vitest'
import { FrameTooLargeError, ProtocolError } from '../src/index.ts'

describe('ProtocolError', () => {
  test('ProtocolError says its reason alone when the place is unknown', () => {
    const error = new ProtocolError('no reply was expected')
    expect(error).toMatchObject({
      name: 'ProtocolError',
      message: 'no reply was expected',
      offset: undefined,
      field: [],
    })
    expect(error).toBeInstanceOf(Error)
  })

  test.each([
    [{ offset: 0 }, 'why at byte 0'],
    [{ field: ['GetDataResponse', 'stat', 'czxid'] }, 'why in GetDataResponse.stat.czxid'],
    [{ field: ['GetACLResponse', 'acl', '[2]', 'perms'], offset: 24 }, 'why in GetACLResponse.acl[2].perms at byte 24'],
  ])('ProtocolError says the place %j', (place, message) => {
    expect(new ProtocolError('why', place)).toMatchObject({ message, ...place })
  })

  test('ProtocolError.within adds the names around the place, from the inside out', () => {
    const inner = new ProtocolError('why', { offset: 3 })
    const outer = inner.within('czxid').within('stat').within('GetDataResponse')
    expect(outer).toMatchObject({ message: 'why in GetDataResponse.stat.czxid at byte 3', offset: 3 })
    expect(inner.message).toBe('why at byte 3')
  })

  test('ProtocolError.within knows no offset where there was none', () => {
    expect(new ProtocolError('why').within('stat')).toMatchObject({ message: 'why in stat', offset: undefined })
  })
})

describe('ProtocolError.is', () => {
  test('ProtocolError.is knows its own and FrameTooLargeError', () => {
    expect(ProtocolError.is(new ProtocolError('why'))).toBe(true)
    expect(ProtocolError.is(new FrameTooLargeError(2, 1))).toBe(true)
  })

  test('ProtocolError.is knows an error of another copy of the package by its brand', () => {
    expect(ProtocolError.is(Object.assign(new Error('why'), { [Symbol.for('@zk/ProtocolError')]: true }))).toBe(true)
  })

  test.each([new Error('why'), { name: 'ProtocolError' }, 'ProtocolError', null, undefined, 7])(
    'ProtocolError.is refuses %s',
    (value) => {
      expect(ProtocolError.is(value)).toBe(false)
    },
  )
})

test('ProtocolError and FrameTooLargeError in JSON have their message, place and sizes', () => {
  expect(JSON.parse(JSON.stringify(new ProtocolError('broken', { offset: 3, field: ['Stat', 'czxid'] })))).toEqual({
    name: 'ProtocolError',
    message: 'broken in Stat.czxid at byte 3',
    offset: 3,
    field: ['Stat', 'czxid'],
  })
  expect(JSON.parse(JSON.stringify(new FrameTooLargeError(5, 3)))).toMatchObject({
    message: 'a frame of 5 bytes is over the limit of 3',
    size: 5,
    limit: 3,
  })
})
