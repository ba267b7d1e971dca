/** Milliseconds on the machine's monotonic clock: comparable between the processes of one machine. */
export function machineTime(): number {
  return Number(process.hrtime.bigint()) / 1e6
}
