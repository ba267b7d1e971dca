import { ErrorCode, type MultiOp, OpCode } from '@zk/wire'
import { expect, test } from 'vitest'
import { refusal } from '../../src/database/index.ts'
import { Client, creating } from './support.ts'

const client = new Client(0x10n)
const { BadArguments, MarshallingError, RuntimeInconsistency, SessionExpired } = ErrorCode
const error = (err: number) => ({ type: 'error', err })

test('refusal is an error with the code', () => {
  const request = client.request('delete', { path: '/a', version: -1 })
  expect(refusal(request, SessionExpired)).toEqual(error(SessionExpired))
  expect(refusal(client.request('create', creating('/a')), SessionExpired)).toEqual(error(SessionExpired))
})

test('refusal of a multi is that of its first part', () => {
  const part: MultiOp = { type: OpCode.check, request: { path: '/a', version: -1 } }
  expect(refusal(client.request('multi', [part, part]), SessionExpired)).toEqual({
    type: 'multi',
    txns: [error(SessionExpired), error(RuntimeInconsistency)],
  })
})

test('refusal of a create with flags that mean nothing is for these', () => {
  expect(refusal(client.request('create', creating('/a', 9)), SessionExpired)).toEqual(error(BadArguments))
  const part: MultiOp = { type: OpCode.create, request: creating('/a', 9) }
  expect(refusal(client.request('multi', [part]), SessionExpired)).toMatchObject({ txns: [error(BadArguments)] })
})

test('refusal of a body that cannot be read is for that, where it is read before the session is looked at', () => {
  const refused = (op: 'create' | 'multi' | 'delete') => refusal(client.malformed(op), SessionExpired)
  expect(refused('create')).toEqual(error(MarshallingError))
  expect(refused('multi')).toEqual(error(MarshallingError))
  expect(refused('delete')).toEqual(error(SessionExpired))
})
