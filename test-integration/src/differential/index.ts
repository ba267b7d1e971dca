export { play } from './play.ts'
export { countOf, formatProgram, type Program } from './program.ts'
export { programs } from './programs.ts'
