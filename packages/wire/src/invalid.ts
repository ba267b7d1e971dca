// Errors for arguments of a wrong value or type.

/** A `RangeError` with the value, if its type is right. Otherwise a `TypeError` with its type. */
export function invalid(value: unknown, name: string, wanted: string, type?: string): Error {
  const isRightType = typeof value === type
  const shown = isRightType || value === null ? value : typeof value
  return new (isRightType ? RangeError : TypeError)(`${name} must be ${wanted}, not ${String(shown)}`)
}
