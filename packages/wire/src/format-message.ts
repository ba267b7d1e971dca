// Messages as text, for logs and traces: one line each, without secrets.
import { AddWatchMode, CreateMode, errorName, eventName, nameOf, OpCode, WatcherType } from './constants.ts'
import type { ClientMessage, ReplyMessage, RequestMessage, ServerMessage } from './messages.ts'
import type { MultiOp, MultiResult } from './multi.ts'
import { operationName } from './operations.ts'
import { printable } from './printable.ts'

/** The options of `formatMessage`. */
export interface FormatMessageOptions {
  /** How many bytes of the data of a node are shown. Its size is always shown. @default 0 */
  data?: number | undefined
}

/** More items of a list are counted, not shown. */
const MOST_ITEMS = 4
/** A longer path is cut. */
const MOST_CHARACTERS = 200
/** How many bytes of a text in place of frames are shown. */
const MOST_TEXT = 40

/**
 * Shows a message in one line, such as `setData /a  xid 3  version 2  5 bytes` or `setData: BadVersion  xid 3  zxid 0x5`.
 *
 * Passwords of sessions, credentials, tokens of SASL, and the ids in ACLs are never shown, the data of nodes only if you ask
 * for it. Control characters are escaped. Operations and codes that this version does not know are shown as numbers.
 */
export function formatMessage(message: ClientMessage | ServerMessage, options: FormatMessageOptions = {}): string {
  const { data: shown = 0 } = options
  switch (message.type) {
    case 'text':
      return `text ${bytesAsText(message.bytes, MOST_TEXT)}`
    case 'connect': {
      const { sessionId, timeOut, lastZxidSeen, readOnly } = message.request
      return line([
        `connect ${hex(sessionId)}`,
        `timeout ${timeOut}`,
        `zxid ${hex(lastZxidSeen)}`,
        isReadOnly(readOnly),
      ])
    }
    case 'connected': {
      const { sessionId, timeOut, readOnly } = message.response
      return timeOut > 0 ? line([`connected ${hex(sessionId)}`, `timeout ${timeOut}`, isReadOnly(readOnly)]) : 'expired'
    }
    case 'event': {
      const { type, path } = message.event
      return line([`${eventName(type) ?? `event ${type}`} ${pathOf(path)}`])
    }
    case 'request': {
      const { what, details } = requestText(message, shown)
      return line([what, `xid ${message.xid}`, ...details, restOf(message)])
    }
    case 'reply': {
      const what = message.op ?? (message.opCode === undefined ? 'handshake' : `opcode ${message.opCode}`)
      const header = [`${what}: ${resultOf(message.err)}`, `xid ${message.xid}`, `zxid ${hex(message.zxid)}`]
      return line([...header, ...responseText(message.response, shown), restOf(message)])
    }
  }
}

const line = (parts: readonly string[]) => parts.filter((part) => part !== '').join('  ')

function requestText(message: RequestMessage, shown: number): { what: string; details: readonly string[] } {
  const { op, opCode, request } = message
  const name = op ?? `opcode ${opCode}`
  // The body is undefined if it could not be read.
  if (request === undefined) return { what: name, details: [] }
  if (Array.isArray(request)) {
    const parts = (request as readonly MultiOp[]).map((part) =>
      [operationName(part.type), ...pathsIn(part.request), ...bodyText(part.request, shown)].join(' '),
    )
    return { what: `${name} (${firstOf(parts)})`, details: [] }
  }
  const paths = pathsIn(request)
  return { what: paths.length === 0 ? name : `${name} ${firstOf(paths, ' ')}`, details: bodyText(request, shown) }
}

/** The paths in the body of a request: in its field, or in its lists of watches. */
function pathsIn(body: object): readonly string[] {
  const paths: string[] = []
  for (const [name, value] of Object.entries(body) as [string, unknown][]) {
    if (name === 'path' || name === 'prefixPath') paths.push(pathOf(value as string | null))
    else if (name.endsWith('Watches')) paths.push(...((value ?? []) as (string | null)[]).map(pathOf))
  }
  return paths
}

/** How each field of a body is shown. All other fields are left out, and so are secrets. */
const fields: Readonly<Record<string, (value: never, shown: number) => string>> = {
  watch: (watch: boolean) => (watch ? 'watch' : ''),
  version: (version: number) => (version === -1 ? '' : `version ${version}`),
  flags: (flags: number) => (flags === CreateMode.PERSISTENT ? '' : (createMode(flags) ?? `flags ${flags}`)),
  ttl: (ttl: bigint) => `ttl ${ttl}`,
  mode: (mode: number) => watchMode(mode) ?? `mode ${mode}`,
  scheme: (scheme: string | null) => pathOf(scheme),
  relativeZxid: (zxid: bigint) => `zxid ${hex(zxid)}`,
  curConfigId: (id: bigint) => (id === -1n ? '' : `config ${hex(id)}`),
  joiningServers: (servers: string | null) => (servers === null ? '' : `joining ${pathOf(servers)}`),
  leavingServers: (servers: string | null) => (servers === null ? '' : `leaving ${pathOf(servers)}`),
  newMembers: (servers: string | null) => (servers === null ? '' : `members ${pathOf(servers)}`),
  data: (data: Uint8Array | null, shown) => (data === null ? 'no data' : bytesAsText(data, shown)),
  stat: ({ version }: { readonly version: number }) => `version ${version}`,
  children: (names: readonly string[] | null) => counted(names?.length ?? 0, 'child', 'children'),
  ephemerals: (paths: readonly string[] | null) => counted(paths?.length ?? 0, 'node', 'nodes'),
  totalNumber: (count: number) => counted(count, 'node', 'nodes'),
}

/** The fields of a body, apart from the path of a request. */
function bodyText(body: object, shown: number): readonly string[] {
  const texts = Object.entries(body).map(([name, value]) => {
    // The type of a watch; the `type` of an auth packet has no `path` beside it, and is always 0.
    if (name === 'type' && 'path' in body) return watcherType(value as number) ?? `type ${String(value)}`
    return fields[name]?.(value as never, shown) ?? ''
  })
  return texts.filter((text) => text !== '')
}

function responseText(response: object | undefined, shown: number): readonly string[] {
  if (response === undefined) return []
  if (!Array.isArray(response)) return [...pathsIn(response), ...bodyText(response, shown)]
  const results = (response as readonly MultiResult[]).map((result) =>
    resultOf(result.type === OpCode.error ? result.response.err : 0),
  )
  return [`(${firstOf(results)})`]
}

const createMode = nameOf(CreateMode)
const watchMode = nameOf(AddWatchMode)
const watcherType = nameOf(WatcherType)

const resultOf = (err: ReplyMessage['err']) => errorName(err) ?? `error ${err}`
const isReadOnly = (readOnly: boolean | undefined) => (readOnly === true ? 'read-only' : '')
const counted = (count: number, one: string, many: string) => `${count} ${count === 1 ? one : many}`
const restOf = ({ rest }: { readonly rest?: Uint8Array | undefined }) =>
  rest === undefined ? '' : `${counted(rest.byteLength, 'byte', 'bytes')} unread`
const hex = (id: bigint) => `0x${BigInt.asUintN(64, id).toString(16)}`

function firstOf(items: readonly string[], separator = ', '): string {
  if (items.length <= MOST_ITEMS) return items.join(separator)
  return [...items.slice(0, MOST_ITEMS), `and ${items.length - MOST_ITEMS} more`].join(separator)
}

function pathOf(path: string | null): string {
  if (path === null) return 'null'
  return printable(path.length > MOST_CHARACTERS ? `${path.slice(0, MOST_CHARACTERS)}…` : path)
}

/** The size, and the first bytes: as text if they are UTF-8. */
function bytesAsText(bytes: Uint8Array, shown: number): string {
  const size = counted(bytes.byteLength, 'byte', 'bytes')
  if (shown === 0 || bytes.byteLength === 0) return size
  const first = bytes.subarray(0, shown)
  const isCut = first.byteLength < bytes.byteLength
  return `${readable(first, isCut)}${isCut ? '…' : ''} (${size})`
}

function readable(bytes: Uint8Array, isCut: boolean): string {
  try {
    // With `stream`, a character that was cut is left out.
    return printable(JSON.stringify(new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: isCut })))
  } catch {
    return `0x${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`
  }
}
