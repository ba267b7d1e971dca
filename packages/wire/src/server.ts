// The records that servers exchange with each other, and those of their logs and snapshots. Clients never see them.
export * from './records/server.ts'
export * from './records/txn.ts'
