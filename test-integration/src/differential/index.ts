export { generate } from './generate.ts'
export { play } from './play.ts'
export { countOf, formatProgram, type Program } from './program.ts'
export { shrink } from './shrink.ts'
