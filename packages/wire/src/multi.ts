// Bodies of multi (14) and multiRead (22), requests and replies: a list in which each part has a MultiHeader before it
// (MultiOperationRecord, MultiResponse). Both opcodes share one form.
import { OpCode } from './constants.ts'
import { ProtocolError } from './protocol-error.ts'
import type { Reader } from './reader.ts'
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
import { readNamed, record, type Type, type TypeOf } from './type.ts'
import type { Writer } from './writer.ts'

const Nothing = record('Nothing', {})

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

// To createContainer and createTTL a server answers as to create2, with that type (FinalRequestProcessor).
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

type Requests = typeof requests
type Responses = typeof responses

/** One operation of a multi: `{ type: OpCode.check, request: { path: '/a', version: 3 } }`. */
export type MultiOp = {
  [T in keyof Requests]: { readonly type: T; readonly request: TypeOf<Requests[T]> }
}[keyof Requests]

/**
 * What became of one operation: its response, or `{ type: OpCode.error, response: { err } }`. In a failed multi every
 * result is an error: 0 before the operation that failed (rolled back), its code, and -2 after it. In a multiRead each
 * stands for itself.
 */
export type MultiResult = {
  [T in keyof Responses]: { readonly type: T; readonly response: TypeOf<Responses[T]> }
}[keyof Responses]

/** Body of a multi or multiRead request. */
export const MultiRequest: Type<readonly MultiOp[]> = {
  name: 'MultiRequest',
  minSize: 9,
  read: (reader) =>
    readParts(reader, (type) => {
      const request = known(requests, type)
      return request && ({ type, request: readNamed(request, reader) } as MultiOp)
    }),
  write: (writer, ops) => {
    for (const { type, request } of ops) writePart(writer, requests[type], { type, done: false, err: -1 }, request)
    writeEnd(writer)
  },
}

/** Body of a multi or multiRead reply. */
export const MultiResponse: Type<readonly MultiResult[]> = {
  name: 'MultiResponse',
  minSize: 9,
  read: (reader) =>
    readParts(reader, (type) => {
      const response = known(responses, type)
      return response && ({ type, response: readNamed(response, reader) } as MultiResult)
    }),
  write: (writer, results) => {
    for (const { type, response } of results) {
      const err = type === OpCode.error ? response.err : 0
      writePart(writer, responses[type], { type, done: false, err }, response)
    }
    writeEnd(writer)
  },
}

/** Reads parts up to the header that says `done`. Each part takes bytes, so hostile input cannot make it run on. */
function readParts<Part>(reader: Reader, readPart: (type: number) => Part | undefined): readonly Part[] {
  const parts: Part[] = []
  for (;;) {
    const offset = reader.offset
    const { type, done } = readNamed(MultiHeader, reader)
    if (done) return parts
    const part = readPart(type)
    if (part === undefined) throw new ProtocolError(`operation type ${type} cannot be part of a multi`, { offset })
    parts.push(part)
  }
}

function writePart(writer: Writer, type: Type<unknown>, header: TypeOf<typeof MultiHeader>, value: unknown): void {
  MultiHeader.write(writer, header)
  type.write(writer, value)
}

function writeEnd(writer: Writer): void {
  MultiHeader.write(writer, { type: OpCode.error, done: true, err: -1 })
}

function known(table: Readonly<Record<number, Type<unknown>>>, type: number): Type<unknown> | undefined {
  return table[type]
}
