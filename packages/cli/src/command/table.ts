/** Rows with aligned columns, a line each. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    // Not by Math.max: a call has room for some 100,000 arguments.
    rows.reduce((width, row) => Math.max(width, row[column]!.length), 0),
  )
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join('  ')
      .trimEnd()
  return rows.map((row) => `${line(row)}\n`).join('')
}
