/** Formats a number as servers print session ids and zxids: `0x` and hexadecimal digits, a negative number as unsigned. */
export function hex(value: bigint): string {
  return `0x${BigInt.asUintN(64, value).toString(16)}`
}
