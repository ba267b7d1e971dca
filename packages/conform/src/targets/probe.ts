// Finds out whether a ZooKeeper server answers at an address, and if not, what does.
import { type Runtime, systemRuntime } from '@zk/client'
import {
  concat,
  type ConnectedMessage,
  decodeServerFrame,
  encodeMessage,
  FrameDecoder,
  type ServerAddress,
} from '@zk/wire'

/** `problem` is a sentence. */
export type Probe = { readonly timeOut: number } | { readonly problem: string }

/** How long a server may take for the handshake, in ms. */
const PATIENCE = 10_000

/** Opens a session and closes it. Never rejects. */
export function probe({ host, port }: ServerAddress, runtime: Runtime = systemRuntime): Promise<Probe> {
  const at = `${host}:${port}`
  return new Promise((resolve) => {
    const received: Uint8Array[] = []
    const frames = new FrameDecoder()
    let isOpen = false
    const finish = (result: Probe): void => {
      cancel()
      link.close()
      resolve(result)
    }
    const cancel = runtime.setTimer(PATIENCE, () =>
      finish({
        problem: isOpen
          ? `${at} accepts connections, but did not answer a handshake within ${PATIENCE / 1_000} s${partly(received)}`
          : `${at} did not accept a connection within ${PATIENCE / 1_000} s`,
      }),
    )
    const link = runtime.dial(
      { host, port },
      {
        opened: () => {
          isOpen = true
          link.write(handshake)
        },
        received: (bytes) => {
          received.push(bytes.slice())
          const other = otherProtocol(concat(received))
          if (other !== undefined) return finish({ problem: `${at} is not a ZooKeeper server: it answers ${other}` })
          try {
            frames.push(bytes.slice())
            const frame = frames.next()
            if (frame === undefined) return
            const { response } = decodeServerFrame(frame, true, () => undefined) as ConnectedMessage
            link.write(closeSession)
            finish(
              response.timeOut > 0
                ? { timeOut: response.timeOut }
                : { problem: `${at} refuses new sessions: it grants a timeout of ${response.timeOut} ms` },
            )
          } catch (error) {
            finish({
              problem: `${at} is not a ZooKeeper server: its answer cannot be read (${(error as Error).message})`,
            })
          }
        },
        drained: () => {},
        lost: (error) => {
          finish({
            problem: isOpen
              ? `${at} accepts connections, but closes them during the handshake: it may be starting, or have no quorum`
              : `nothing accepts connections at ${at}: ${error.message}`,
          })
        },
      },
    )
  })
}

const handshake = encodeMessage({
  type: 'connect',
  request: {
    protocolVersion: 0,
    lastZxidSeen: 0n,
    timeOut: 10_000,
    sessionId: 0n,
    passwd: new Uint8Array(16),
    readOnly: false,
  },
})

const closeSession = encodeMessage({ type: 'request', op: 'closeSession', opCode: -11, xid: 1, request: undefined })

/** The protocol with which an answer begins. */
function otherProtocol(bytes: Uint8Array): string | undefined {
  const text = String.fromCharCode(...bytes.subarray(0, 8))
  if (text.startsWith('HTTP/')) return 'HTTP'
  if (text.startsWith('SSH-')) return 'SSH'
  // An alert, or a handshake, of TLS 1.x.
  if ((bytes[0] === 0x15 || bytes[0] === 0x16) && bytes[1] === 3) return 'TLS'
  return undefined
}

function partly(received: readonly Uint8Array[]): string {
  const bytes = received.reduce((sum, chunk) => sum + chunk.length, 0)
  return bytes === 0 ? '' : ` (it has sent ${bytes} bytes of a frame without an end)`
}
