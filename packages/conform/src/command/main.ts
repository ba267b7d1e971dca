#!/usr/bin/env node
import { conform } from './conform.ts'
import { processTerminal } from './terminal.ts'

// A reader that has seen enough, as `head` has, goes away. The exit code and the files still tell everything.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
})
process.exitCode = await conform(process.argv.slice(2), processTerminal)
