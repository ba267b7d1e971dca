// The bodies of requests and replies of multi (14) and multiRead (22). All have the same form: a list of parts, each with a
// MultiHeader before it (MultiOperationRecord, MultiResponse).
import { OpCode } from './constants.ts'
import { ProtocolError } from './protocol-error.ts'
import {
  CheckVersionRequest,
  Create2Response,
  CreateRequest,
  CreateResponse,
  CreateTTLRequest,
  DeleteRequest,
  ErrorResponse,
  GetChildrenRequest,
  GetChildrenResponse,
  GetDataRequest,
  GetDataResponse,
  MultiHeader,
  SetDataRequest,
  SetDataResponse,
} from './records/proto.ts'
import { readNamed, record, type Type, type TypeOf, writeNamed } from './type.ts'

const Nothing = record('Nothing', {})

/** The records of the operations in a multi or a multiRead, by opcode. */
const requests = {
  [OpCode.create]: CreateRequest,
  [OpCode.create2]: CreateRequest,
  [OpCode.createContainer]: CreateRequest,
  [OpCode.createTTL]: CreateTTLRequest,
  [OpCode.delete]: DeleteRequest,
  [OpCode.setData]: SetDataRequest,
  [OpCode.check]: CheckVersionRequest,
  [OpCode.getData]: GetDataRequest,
  [OpCode.getChildren]: GetChildrenRequest,
} as const

// A server answers createContainer and createTTL like create2, with the type of create2 (FinalRequestProcessor).
/** The records of the results of a multi or a multiRead, by opcode. */
const responses = {
  [OpCode.create]: CreateResponse,
  [OpCode.create2]: Create2Response,
  [OpCode.delete]: Nothing,
  [OpCode.setData]: SetDataResponse,
  [OpCode.check]: Nothing,
  [OpCode.getData]: GetDataResponse,
  [OpCode.getChildren]: GetChildrenResponse,
  [OpCode.error]: ErrorResponse,
} as const

/** The type of `requests`. */
type Requests = typeof requests
/** The type of `responses`. */
type Responses = typeof responses

/** One operation of a multi: `{ type: OpCode.check, request: { path: '/a', version: 3 } }`. */
export type MultiOp = {
  [T in keyof Requests]: { readonly type: T; readonly request: TypeOf<Requests[T]> }
}[keyof Requests]

/**
 * The result of one operation: its response, or `{ type: OpCode.error, response: { err } }`. In a failed multi every result
 * has the type `error`. Its `err` is the code of the failure for the operation that failed, 0 for those before it (they were
 * rolled back), and -2 for those after it. In a multiRead each result is independent of the others.
 */
export type MultiResult = {
  [T in keyof Responses]: { readonly type: T; readonly response: TypeOf<Responses[T]> }
}[keyof Responses]

/** Body of a multi or multiRead request. */
export const MultiRequest: Type<readonly MultiOp[]> = parts('MultiRequest', 'request', requests, -1)

/** Body of a multi or multiRead reply. */
export const MultiResponse: Type<readonly MultiResult[]> = parts('MultiResponse', 'response', responses, 0)

/**
 * Makes the type of a list of parts that a header with `done` ends. `err` is written in the headers of parts that are not
 * errors. Each part takes bytes, so hostile input cannot make the list endless.
 */
function parts<Part extends MultiOp | MultiResult>(
  name: string,
  body: 'request' | 'response',
  types: Readonly<Record<number, Type<unknown>>>,
  err: number,
): Type<readonly Part[]> {
  return {
    name,
    minSize: MultiHeader.minSize,
    read(reader) {
      const parts: Part[] = []
      for (;;) {
        const { offset } = reader
        const { type, done } = readNamed(MultiHeader, reader)
        if (done) return parts
        const record = types[type]
        if (record === undefined)
          throw new ProtocolError(`operation type ${type} cannot be part of a multi`, { offset })
        parts.push({ type, [body]: readNamed(record, reader) } as unknown as Part)
      }
    },
    write(writer, parts) {
      for (const part of parts) {
        const { type } = part
        MultiHeader.write(writer, { type, done: false, err: type === OpCode.error ? part.response.err : err })
        const record = types[type]
        if (record === undefined) throw new TypeError(`operation type ${type} cannot be part of a multi`)
        writeNamed(record, writer, (part as unknown as Record<string, unknown>)[body])
      }
      MultiHeader.write(writer, { type: OpCode.error, done: true, err: -1 })
    },
  }
}
