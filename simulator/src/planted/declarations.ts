// Where declarations stand in a formatted source: those at its top, and the members of each.
export interface Region {
  /** `firstLease`, `Contender`, `Contender.confirm`, `leaseTimes.proven`. */
  readonly name: string
  readonly start: number
  readonly end: number
}

const TOP =
  /^(?:export )?(?:default )?(?:abstract )?(?:async )?(?:class|function\*?|const|let|interface|type|enum) (\w+)/
const MEMBER =
  /^ {2}(?:(?:static|async|readonly|get|set|override|abstract|protected|private|public) )*\*?(#?\w+)(?=[(<:?!=;]| =|$)/
/** What belongs to the declaration that it ends. */
const CLOSING = /^[)\]}]/

/** A getter and a setter, or overloads, have a region each. */
export function declarationsIn(code: string): Region[] {
  const regions: Region[] = []
  const open: { top?: Region & { end: number }; member?: Region & { end: number } } = {}
  let at = 0
  for (const line of code.split('\n')) {
    const end = at + line.length
    const indent = line.length - line.trimStart().length
    const isClosing = CLOSING.test(line.trimStart())
    if (line !== '' && indent === 0) delete open.member
    if (line !== '' && indent === 0 && !isClosing) {
      delete open.top
      const name = TOP.exec(line)?.[1]
      if (name !== undefined) regions.push((open.top = { name, start: at, end }))
    } else if (line !== '' && indent === 2 && !isClosing && open.top !== undefined) {
      delete open.member
      const name = MEMBER.exec(line)?.[1]
      if (name !== undefined) regions.push((open.member = { name: `${open.top.name}.${name}`, start: at, end }))
    }
    if (line !== '') for (const region of [open.top, open.member]) if (region !== undefined) region.end = end
    at = end + 1
  }
  return regions
}
