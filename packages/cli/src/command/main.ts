#!/usr/bin/env node
import { zk } from './zk.ts'

process.exitCode = await zk(process.argv.slice(2))
