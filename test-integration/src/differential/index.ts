export { generate, type GenerateOptions } from './generate.ts'
export { play } from './play.ts'
export { formatProgram, type Program } from './program.ts'
export { shrink } from './shrink.ts'
