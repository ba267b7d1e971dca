// Changes that no client requests. They are committed like any write, with the rights of the superuser and without a
// session.
import { type MultiOp, OpCode, type RequestMessage, type RequestOf } from '@zk/wire'
import type { Connection, ServerRequest } from '../server/request.ts'
import type { Txn } from '../server/txn.ts'

type ChangeOf<Name extends 'create' | 'create2' | 'createContainer' | 'delete' | 'setData' | 'setACL'> = {
  readonly [Op in Name]: { readonly op: Op; readonly request: RequestOf<Op>['request'] }
}[Name]

export type OperatorChange =
  | ChangeOf<'create' | 'create2' | 'createContainer' | 'delete' | 'setData' | 'setACL'>
  | { readonly op: 'multi'; readonly request: MultiOp[] }
  /** The next sequential child of the node gets this number. */
  | { readonly op: 'presetCounter'; readonly path: string; readonly counter: number }

export type OperatorResult =
  /** `err` is an `ErrorCode`. If it is 0, `response` is the record of the reply. */
  | { readonly type: 'done'; readonly err: number; readonly response: unknown; readonly zxid: bigint }
  /** There was no leader, or it stepped down before it had answered: the change may have happened. */
  | { readonly type: 'lost' }

interface OperatorsRequest {
  readonly request: ServerRequest & { readonly connection: Connection }
  /** The transaction of a change for which ZooKeeper has no request. */
  readonly txn: Txn | undefined
}

export function operatorsRequest(
  change: OperatorChange,
  member: string,
  done: (result: OperatorResult) => void,
): OperatorsRequest {
  const connection: Connection = {
    sessionId: 0n,
    authInfo: SUPER,
    event() {},
    established() {},
    reply: (_, zxid, err, response) => done({ type: 'done', err, response, zxid }),
    close() {},
  }
  const request = { sessionId: 0n, message: messageOf(change), authInfo: SUPER, owner: member, connection }
  return { request, txn: change.op === 'presetCounter' ? { type: 'presetCounter', ...change } : undefined }
}

const SUPER = [{ scheme: 'super', id: '' }]

function messageOf(change: OperatorChange): RequestMessage {
  // The history shows it as a setData, which it resembles most.
  if (change.op === 'presetCounter') {
    const request = { path: change.path, data: null, version: -1 }
    return { type: 'request', op: 'setData', opCode: OpCode.setData, xid: 0, request }
  }
  return { type: 'request', opCode: OpCode[change.op], xid: 0, ...change } as RequestMessage
}
