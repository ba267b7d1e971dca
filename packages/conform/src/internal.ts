// The exports for this repository besides the public API: its tests play scenarios, and its pages are written from the clauses.
// They may change with any version.
export * from './clauses/index.ts'
export { clientClauses, clientPage } from './client/client-page.ts'
export * from './fuzz/index.ts'
export * from './judge/index.ts'
export * from './play/index.ts'
export * from './releases/index.ts'
export * from './report/index.ts'
export * from './scenarios/index.ts'
export * from './targets/server-target.ts'
export * from './targets/probe.ts'
export * from './targets/virtual-target.ts'
