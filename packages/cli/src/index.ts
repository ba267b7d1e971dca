export { EXIT } from './command/exit.ts'
