// The program of a worker thread: runs the jobs that it is sent.
import { parentPort } from 'node:worker_threads'
import type { Job } from './job.ts'
import { runJob } from './run-job.ts'

// Millions of errors are made here for which nobody wants to see a stack.
Error.stackTraceLimit = 0

const rejections: string[] = []
process.on('unhandledRejection', (reason) => rejections.push(String(reason)))

/** Node tells of unhandled rejections when a macrotask ends. */
async function unhandled(): Promise<readonly string[]> {
  await new Promise((resolve) => setImmediate(resolve))
  return rejections.splice(0)
}

parentPort?.on('message', (job: Job) => {
  void runJob(job, unhandled).then((report) => parentPort?.postMessage(report))
})
