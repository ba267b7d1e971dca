// The golden hash of so many seeds, as a program of its own for every runtime: 100, or the number that is given.
import { goldenHash } from '../golden.ts'

console.log(await goldenHash(Number(process.argv[2] ?? 100)))
