// The program of a worker thread: runs the jobs that it is sent.
import { parentPort, workerData } from 'node:worker_threads'
import { CurrentSeed, type Job } from './job.ts'
import { runJob } from './run-job.ts'

// Millions of errors are made here whose stack is not needed.
Error.stackTraceLimit = 0

const current = new CurrentSeed(workerData as SharedArrayBuffer)
const rejections: string[] = []
process.on('unhandledRejection', (reason) => rejections.push(String(reason)))

/** Node reports unhandled rejections when a macrotask ends. */
async function unhandled(): Promise<readonly string[]> {
  await new Promise((resolve) => setImmediate(resolve))
  return rejections.splice(0)
}

const begins = (seed: number) => {
  current.value = seed
}

parentPort?.on('message', (job: Job) => {
  runJob(job, { begins, unhandled }).then(
    (report) => parentPort?.postMessage(report),
    // Thrown outside of the promise, so that the worker ends with the error.
    (error: unknown) => {
      setImmediate(() => {
        throw error
      })
    },
  )
})
