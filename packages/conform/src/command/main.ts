#!/usr/bin/env node
import { conform } from './conform.ts'
import { processTerminal } from './terminal.ts'

process.exitCode = await conform(process.argv.slice(2), processTerminal)
