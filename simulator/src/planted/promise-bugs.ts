import type { PlantedBug } from './bug.ts'

/** Bugs that break a promise of the client, grouped by promise. Histories of plain calls find them. */
export const promiseBugs: readonly PlantedBug[] = (
  [
    // --- call order is wire order
    {
      name: 'requests of one turn leave one by one',
      edits: [
        {
          in: 'SessionMachine.transmit',
          find: 'this.pipeline.send(now, SEGMENT_SIZE, segment)',
          replace: 'this.pipeline.send(now, 1, segment)',
        },
      ],
    },
    {
      name: 'what was not sent goes ahead of what is repeated',
      edits: [
        {
          in: 'RequestQueue.interrupted',
          find: 'waiting.sort((one, other) => one.order - other.order)',
          replace: 'waiting.sort((one, other) => Number(other.xid === undefined) - Number(one.xid === undefined))',
        },
      ],
    },
    // --- what the server sent first is told first
    {
      name: 'events are delivered a turn of the microtask queue later',
      edits: [
        {
          in: 'CallWatcher.notify',
          find: 'void settled.then(() => this',
          replace: 'void settled.then(() => {}).then(() => this',
        },
      ],
    },
    {
      name: 'failures are delivered a turn of the microtask queue earlier than results',
      edits: [
        {
          in: 'SessionDriver.#perform',
          find: 'return output.request.resolve(output.value)',
          replace: 'return queueMicrotask(() => output.request.resolve(output.value))',
        },
      ],
    },
    // --- an error says whether it may have happened
    {
      name: 'a write that was sent is reported at its timeout as not executed',
      edits: [
        {
          in: 'RequestPipeline.settleOverdue',
          find: "const outcomeUnknown = request.kind === 'write' && request.phase.name === 'sent'",
          replace: 'const outcomeUnknown = false',
        },
      ],
    },
    {
      name: 'writes that were never sent count as unknown',
      edits: [
        {
          in: 'RequestPipeline.end',
          find: "outcomeUnknown: wasSent && request.kind === 'write' })",
          replace: "outcomeUnknown: (wasSent || true) && request.kind === 'write' })",
        },
      ],
    },
    {
      name: 'no sync goes ahead of reads when a write was not answered',
      faults: ['lag', 'loseReply', 'drop', 'reset'],
      edits: [
        {
          in: 'RequestPipeline.interrupted',
          find: 'if (hasUnansweredWrites) this.#isSyncPending = true\n',
          replace: '',
        },
      ],
    },
    {
      name: 'what is aborted before it is sent is sent all the same',
      edits: [
        {
          in: 'RequestQueue.abandon',
          find: 'if (!this.#unsent.delete(request)) this.#putOff.delete(request)\n',
          replace: '',
        },
      ],
    },
    // --- silence is noticed
    {
      name: 'silence counts after T',
      edits: [
        {
          in: 'deadlines.silence',
          find: 'silence: ({ T }: Times) => (T * 2) / 3',
          replace: 'silence: ({ T }: Times) => T',
        },
      ],
    },
    {
      name: 'a request without an answer does not count while pings are answered',
      edits: [
        {
          in: 'Timing.openSince',
          find: 'Math.min(this.#of.pipeline.oldestSentAt ?? Infinity, this.#pings[0] ?? Infinity)',
          replace: 'this.#pings[0] ?? Infinity',
        },
      ],
    },
    {
      name: 'bytes count as a sign of life before they are a frame',
      edits: [
        {
          in: 'SessionMachine.#read',
          find: '    frames.push(bytes)\n',
          replace: "    frames.push(bytes)\n    if (this.#state.name === 'connected') this.#timing.received(now)\n",
        },
      ],
    },
    {
      name: 'the server that failed is tried again',
      edits: [
        {
          in: 'StaticHostProvider.next',
          find: 'this.#next = this.#servers.indexOf(server) + 1',
          replace: 'this.#next = Math.max(1, this.#next)',
        },
      ],
    },
    {
      name: 'the client waits for a server that accepts the connection and sends nothing',
      edits: [
        {
          in: 'connect',
          find: 'Math.max(T / servers, enough)',
          replace: 'Math.max((2 * T) / servers, enough)',
        },
      ],
    },
    // --- nothing hangs
    {
      name: 'calls that wait for a connection have no time limit',
      edits: [
        {
          in: 'RequestQueue.overdue',
          find: 'const waiting = [...this.#sent, ...this.#putOff, ...this.#unsent].filter(',
          replace: 'const waiting = [...this.#sent, ...this.#putOff].filter(',
        },
      ],
    },
    {
      name: 'an aborted call goes on listening to its signal',
      edits: [{ in: 'SessionDriver.#forgetSignal', find: '    request.unlisten?.()\n', replace: '' }],
    },
    {
      name: 'close waits for its answer however long it takes',
      edits: [
        {
          in: 'SessionMachine.close',
          find: "{ name: 'closing', by }",
          replace: "{ name: 'closing', by: now + 4 * (by - now) }",
        },
      ],
    },
    {
      name: 'a watch that is taken back stays at the server',
      edits: [
        {
          in: 'CallWatcher.#unwatch',
          find: 'if (type === undefined || session.connection === undefined) return',
          replace: 'if (type !== undefined || session.connection === undefined) return',
        },
      ],
    },
    // --- order after a reconnection
    {
      name: 'the queue goes ahead of the watches',
      edits: [
        {
          in: 'RequestPipeline.connected',
          find: 'this.#queue.prepend(first)',
          replace: 'for (const each of first) this.#queue.enqueue(each)',
        },
      ],
    },
    {
      name: 'credentials are not sent again',
      edits: [
        {
          in: 'Credentials.interrupted',
          find: 'this.#sentHere.clear()',
          replace: '',
        },
      ],
    },
    {
      name: 'a persistent watch does not report its gap',
      edits: [
        {
          in: 'PersistentWatch.#deliver',
          find: 'if (this.#missed !== undefined) this.#sink.push',
          replace: "if (this.#missed === 'renewed') this.#sink.push",
        },
      ],
    },
    // --- an expired session is never hidden
    {
      name: 'what was not sent waits on when its session has expired',
      edits: [
        {
          in: 'RequestQueue.clear',
          find: '...this.#unsent.clear().map((request) => ({ request, wasSent: false })),',
          replace: '',
        },
      ],
    },
    {
      name: 'the watches of an expired session are not notified',
      edits: [
        {
          in: 'RequestPipeline.end',
          find: '    this.watches.end()\n',
          replace: '',
        },
      ],
    },
    {
      name: 'a call that is pinned to an expired session runs in the next',
      edits: [
        {
          in: 'ZooKeeper.#submit',
          find: '    return this.#sessionOf(options).call(prepare(',
          replace: `    const pinned = this.#sessionOf(options)
    return (pinned.signal.aborted ? this.#sessions.current : pinned).call(prepare(`,
        },
      ],
    },
    // --- local expiry
    {
      name: 'a silent session lives for 2 T',
      edits: [
        {
          in: 'Timing.expiresAt',
          find: 'this.#receivedAt + config.localExpiry * identity.timeout',
          replace: 'this.#receivedAt + 2 * identity.timeout',
        },
      ],
    },
    {
      name: 'a silent session ends after T',
      edits: [
        {
          in: 'Timing.expiresAt',
          find: 'this.#receivedAt + config.localExpiry * identity.timeout',
          replace: 'this.#receivedAt + identity.timeout',
        },
      ],
    },
    // --- servers that break the protocol
    {
      name: 'a reply is taken for that of the oldest request, whatever its xid',
      edits: [
        {
          in: 'RequestPipeline.#reply',
          find: ' || phase.xid !== reply.xid) {',
          replace: ') {',
        },
      ],
    },
    {
      name: 'a server that breaks the protocol ends the session',
      edits: [
        {
          in: 'SessionMachine.received',
          find: 'this.#hangUp(this.#explained(error), now)',
          replace: "this.#end('SessionExpired')",
        },
      ],
    },
    // --- unknown numbers
    {
      name: 'an unknown error code is reported as another',
      edits: [
        {
          in: 'RequestPipeline.#refuse',
          find: "known === undefined || known === 'Ok' ? 'Unknown' : known",
          replace: "known === undefined || known === 'Ok' ? 'SystemError' : known",
        },
      ],
    },
    {
      name: 'an event of unknown type ends the connection',
      edits: [
        {
          in: 'RequestPipeline.#event',
          find: "    if (event === undefined || event === 'None'",
          replace: "    if (event === undefined) throw new ProtocolError('unknown')\n    if (event === 'None'",
        },
      ],
    },
  ] satisfies readonly PlantedBug[]
).map((bug) => ({ ...bug, recipe: 'ZooKeeper' }))
