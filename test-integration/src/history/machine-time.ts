/** The monotonic clock of the machine, in ms. All processes of the machine share it. */
export function machineTime(): number {
  return Number(process.hrtime.bigint()) / 1e6
}
