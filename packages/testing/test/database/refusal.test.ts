import { ErrorCode, type MultiOp, OpCode } from '@zk/wire'
import { expect, test } from 'vitest'
import { releaseOf } from '../../src/database/index.ts'
import type { ServerRequest } from '../../src/server/request.ts'
import { Client, creating, Server } from './support.ts'

const client = new Client(0x10n)
const { BadArguments, MarshallingError, RuntimeInconsistency, SessionExpired } = ErrorCode
const error = (err: number) => ({ type: 'error', err })
const refusal = (request: ServerRequest, err: number, release = '3.9') =>
  new Server({ release: releaseOf(release)! }).preparation.refuse(request, err)

test('Preparation.refuse is an error with the code', () => {
  const request = client.request('delete', { path: '/a', version: -1 })
  expect(refusal(request, SessionExpired)).toEqual(error(SessionExpired))
  expect(refusal(client.request('create', creating('/a')), SessionExpired)).toEqual(error(SessionExpired))
})

test('Preparation.refuse of a multi is that of its first part', () => {
  const part: MultiOp = { type: OpCode.check, request: { path: '/a', version: -1 } }
  expect(refusal(client.request('multi', [part, part]), SessionExpired)).toEqual({
    type: 'multi',
    txns: [error(SessionExpired), error(RuntimeInconsistency)],
  })
})

test('Preparation.refuse of a create with flags that mean nothing is for these', () => {
  expect(refusal(client.request('create', creating('/a', 9)), SessionExpired)).toEqual(error(BadArguments))
  const part: MultiOp = { type: OpCode.create, request: creating('/a', 9) }
  const request = client.request('multi', [part])
  expect(refusal(request, SessionExpired)).toEqual(error(MarshallingError))
  expect(refusal(request, SessionExpired, '3.8.1')).toMatchObject({ txns: [error(BadArguments)] })
})

test('Preparation.refuse of a body that cannot be read is for that, where it is read before the session is looked at', () => {
  const refused = (op: 'create' | 'multi' | 'delete') => refusal(client.malformed(op), SessionExpired)
  expect(refused('create')).toEqual(error(MarshallingError))
  expect(refused('multi')).toEqual(error(MarshallingError))
  expect(refused('delete')).toEqual(error(SessionExpired))
})
