// What a sound server answers: to every request a reply that it allows, with values of the seed.
import { ErrorCode, type MultiOp, type MultiResult, OpCode, operationName, operations, type Type } from '@zk/wire'
import type { SeededRandom } from '../support/index.ts'
import { replyFrame, someStat } from '../support/index.ts'
import { opName, type ReceivedRequest } from '../support/requests.ts'
import { challengeOf } from './digest-server.ts'
import { sealed } from './seals.ts'

export interface Answering {
  readonly random: SeededRandom
  /** One answer in so many is an error; Infinity for none. */
  readonly failsOneIn: number
  /** The longest data, in bytes. */
  readonly longest: number
  readonly zxid: bigint
  /** Stands in every seal, so that two answers to one question differ. */
  readonly serial: number
}

const ascii = new TextEncoder()

/** Errors that any operation may be answered with. */
const errors = [ErrorCode.NoNode, ErrorCode.NoAuth, ErrorCode.BadVersion, ErrorCode.NodeExists, ErrorCode.ThrottledOp]
/** Sizes of data, in bytes: mostly short, so that mutations hit what stands around it; now and then in several segments. */
const sizes = [0, 3, 20, 20, 20, 20, 100, 100, 100, 100, 500, 500, 1_000, 5_000]
const LONG = 60_000
const LONG_ONE_IN = 100
const CONFIG = 'server.1=zk1:2888:3888:participant;0.0.0.0:2181\nserver.2=[::1]:2888:3888:observer\nversion=100000000'

/** The code of the reply, and the whole frame. */
export function answerTo(request: ReceivedRequest, answering: Answering): { err: number; frame: Uint8Array } {
  const { xid, opCode } = request
  const { random, failsOneIn, zxid } = answering
  const mayFail = opCode !== OpCode.auth && opCode !== OpCode.sasl && opCode !== OpCode.closeSession
  if (mayFail && random.next() < 1 / failsOneIn) {
    const err = errors[random.below(errors.length)]!
    return { err, frame: replyFrame({ xid, zxid, err }) }
  }
  const { response } = operations[operationName(opCode)!]
  if (response === undefined) return { err: 0, frame: replyFrame({ xid, zxid }) }
  return { err: 0, frame: replyFrame({ xid, zxid }, response as Type<unknown>, bodyOf(request, answering)) }
}

/** What is known by a seal in the answer to a request, but for the serial. */
export function questionOf(opCode: number, path: string): string {
  return `${opName(opCode)} ${path}`
}

function bodyOf({ opCode, body }: ReceivedRequest, answering: Answering): unknown {
  const path = 'path' in body ? (body.path ?? '') : 'prefixPath' in body ? (body.prefixPath ?? '') : ''
  const { random } = answering
  const seal = sealed(`${questionOf(opCode, path)} ${answering.serial}`)
  const stat = { ...someStat, mzxid: answering.zxid }
  switch (opCode) {
    case OpCode.create2:
    case OpCode.createContainer:
    case OpCode.createTTL:
      return { path, stat }
    case OpCode.exists:
    case OpCode.setACL:
    case OpCode.setData:
      return { stat }
    case OpCode.getACL:
      return { acl: [{ perms: 31, id: { scheme: 'world', id: 'anyone' } }], stat }
    case OpCode.getAllChildrenNumber:
      return { totalNumber: random.below(1_000) }
    case OpCode.getChildren2:
      return { children: isMade(path) ? [] : names(seal, random), stat }
    case OpCode.getData: {
      const text = path.endsWith('/zookeeper/config') ? CONFIG : seal
      return { data: padded(text, answering), stat }
    }
    case OpCode.getEphemerals:
      return { ephemerals: names(`${path === '/' ? '' : path}/${seal}`, random) }
    case OpCode.multi:
    case OpCode.multiRead:
      return (body as readonly MultiOp[]).map((part) => resultOf(part, answering))
    case OpCode.reconfig:
      return { data: ascii.encode(CONFIG), stat }
    case OpCode.sasl:
      return { token: challengeOf((body as { readonly token: Uint8Array | null }).token) }
    case OpCode.sync:
      return { path }
    case OpCode.whoAmI:
      return { clientInfo: [{ authScheme: 'ip', user: '127.0.0.1' }] }
    case OpCode.addWatch:
      return { err: 0 }
    case OpCode.auth:
    case OpCode.checkWatches:
    case OpCode.closeSession:
    case OpCode.delete:
    case OpCode.ping:
    case OpCode.removeWatches:
    case OpCode.setWatches:
    case OpCode.setWatches2:
      throw new Error(`a reply to ${opName(opCode)} has no body`)
  }
}

function resultOf({ type, request }: MultiOp, answering: Answering): MultiResult {
  const { random, serial } = answering
  const path = request.path ?? ''
  const seal = sealed(`${questionOf(type, path)} ${serial}`)
  switch (type) {
    case OpCode.create:
      return { type, response: { path } }
    case OpCode.create2:
    case OpCode.createContainer:
    case OpCode.createTTL:
      return { type: OpCode.create2, response: { path, stat: someStat } }
    case OpCode.check:
    case OpCode.delete:
      return { type, response: {} }
    case OpCode.setData:
      return { type, response: { stat: someStat } }
    case OpCode.getData:
      return { type, response: { data: padded(seal, answering), stat: someStat } }
    case OpCode.getChildren:
      return { type, response: { children: names(seal, random) } }
  }
}

/** The depth of answered names, so that trees end. */
const isMade = (path: string) => path.includes('<') || path.includes('child-')

function padded(text: string, { random, longest }: Answering): Uint8Array {
  const size = random.below(LONG_ONE_IN) === 0 ? LONG : sizes[random.below(sizes.length)]!
  return ascii.encode(text.padEnd(Math.min(longest, size), '.'))
}

function names(first: string, random: SeededRandom): string[] {
  return [first, ...Array.from({ length: random.below(12) }, (_, index) => `child-${index}`)]
}
