// The lines of `zk serve` over HTTP, on loopback.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { concat } from '@zk/wire'
import { type LineAnswer, LineError, type Served } from './serve-lines.ts'

const LOOPBACK = '127.0.0.1'
const LONGEST_BODY = 1_048_576

/** Rejects with the error of the system if the port is not free. */
export async function listen(served: Served, port: number): Promise<{ readonly url: string; close(): void }> {
  const server = createServer((request, response) => void handle(served, request, response))
  await opened(server, port)
  const { port: actual } = server.address() as AddressInfo
  return {
    url: `http://${LOOPBACK}:${actual}`,
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

function opened(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, LOOPBACK, resolve)
  })
}

async function handle(served: Served, request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    const line = await lineOf(request)
    if (line === undefined) return end(response, 404, { error: 'there are POST /, GET / and GET /history' })
    const answer: LineAnswer = await served.obey(line)
    end(response, 200, answer.document)
  } catch (error) {
    const isForbidden = error instanceof Forbidden
    if (!isForbidden && !(error instanceof LineError)) response.destroy()
    else end(response, isForbidden ? 403 : 400, { error: error.message })
  }
}

class Forbidden extends Error {
  override readonly name = 'Forbidden'
}

/** What the request asks for, as a line; undefined if there is no such place. */
async function lineOf(request: IncomingMessage): Promise<string | undefined> {
  // A page in a browser of this machine could send it otherwise.
  if (request.headers.origin !== undefined) throw new Forbidden('requests of web pages are refused')
  const { pathname, searchParams } = new URL(request.url ?? '/', `http://${LOOPBACK}`)
  const isRead = request.method === 'GET' || request.method === 'HEAD'
  if (pathname === '/' && request.method === 'POST') return bodyOf(request)
  if (pathname === '/' && isRead) return 'members'
  if (pathname !== '/history' || !isRead) return undefined
  const filters = [...searchParams].map(([key, value]) => `${key}=${JSON.stringify(value)}`)
  return ['history', ...filters].join(' ')
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of request as AsyncIterable<Uint8Array>) {
    length += chunk.length
    if (length > LONGEST_BODY) throw new LineError('the line is too long')
    chunks.push(chunk)
  }
  const text = new TextDecoder().decode(concat(chunks)).trim()
  if (text.includes('\n')) throw new LineError('one line at a time')
  return text
}

function end(response: ServerResponse, status: number, document: Readonly<Record<string, unknown>>): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(`${JSON.stringify({ version: 1, ok: status === 200, ...document })}\n`)
}
