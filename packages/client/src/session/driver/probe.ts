// The raw text exchange `isro`: a server that takes writes says `rw`, a read-only one `ro`, one that does not serve `null`.
import type { RuntimeConnection, DialTarget, Runtime } from '../../runtime/runtime.ts'
import type { TlsSource } from '../../runtime/tls.ts'
import { dialWith } from './dialer.ts'

const QUESTION = new TextEncoder().encode('isro')
const ANSWER_SIZE = 2

/** Asks, and tells once what was answered; undefined for nothing of use. The returned function ends it untold. */
export function probe(
  runtime: Runtime,
  tls: TlsSource | undefined,
  target: DialTarget,
  answered: (answer: string | undefined) => void,
): () => void {
  let connection: RuntimeConnection | undefined
  let isOver = false
  let text = ''
  const end = () => {
    isOver = true
    connection?.close()
  }
  const tell = (answer: string | undefined) => {
    if (isOver) return
    end()
    answered(answer)
  }
  try {
    connection = dialWith(runtime, tls, target, {
      opened: () => {
        if (!isOver) connection?.write(QUESTION)
      },
      received: (bytes) => {
        text += String.fromCharCode(...bytes.subarray(0, ANSWER_SIZE))
        if (text.length >= ANSWER_SIZE) tell(text.slice(0, ANSWER_SIZE))
      },
      drained: () => {},
      lost: () => tell(undefined),
    })
  } catch {
    // A runtime that cannot even try has failed as one that tried.
    tell(undefined)
  }
  return end
}
