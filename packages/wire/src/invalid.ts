// Errors for arguments of a wrong value or type.

/** Makes a `RangeError` that shows the value if its `typeof` is `type`, otherwise a `TypeError` that shows its `typeof`. */
export function invalid(value: unknown, name: string, wanted: string, type?: string): Error {
  const isRightType = typeof value === type
  const shown = isRightType || value === null ? value : typeof value
  return new (isRightType ? RangeError : TypeError)(`${name} must be ${wanted}, not ${String(shown)}`)
}
