/** As servers print session ids and zxids in their logs: `0x` and hexadecimal digits, negative numbers as unsigned ones. */
export function hex(value: bigint): string {
  return `0x${BigInt.asUintN(64, value).toString(16)}`
}
