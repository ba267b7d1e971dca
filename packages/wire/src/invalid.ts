// What errors say of a value that was handed in.

/** A `RangeError` that shows the value where it is of the right `type`, a `TypeError` that says its type where not. */
export function invalid(value: unknown, name: string, wanted: string, type?: string): Error {
  const isRightType = typeof value === type
  const shown = isRightType || value === null ? value : typeof value
  return new (isRightType ? RangeError : TypeError)(`${name} must be ${wanted}, not ${String(shown)}`)
}
