// Screenshots of a terminal as SVG, made from what a program prints: the same bytes on every machine, readable on light and dark pages,
// and by screen readers. They need no font but a monospaced one of the reader.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { root } from './workspace.ts'

export interface Screen {
  /** What the picture shows, in one sentence, for those who do not see it. */
  readonly title: string
  /** What the program printed, with its colours: the escape sequences of ANSI for bold, dim and the eight colours. */
  readonly text: string
  /** The width of the terminal. Longer lines are wrapped. @default 100 */
  readonly columns?: number
}

/** Expects that a file of the repository is the screenshot. `UPDATE_GOLDEN=1` writes it. */
export function expectScreenshot(path: string, screen: Screen): void {
  const file = join(root, path)
  const drawn = drawScreen(screen)
  if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(file, drawn)
  expect(drawn, 'changed on purpose? UPDATE_GOLDEN=1 writes it anew').toBe(readFileSync(file, 'utf8'))
}

/** Text of one style within a line. */
interface Run {
  readonly column: number
  readonly text: string
  readonly classes: string
}

// In px. The width of a cell is that of most monospaced fonts; `textLength` makes the others fit.
const FONT = 13
const CELL = 7.8
const LINE = 18
const MARGIN = 16

export function drawScreen({ title, text, columns = 100 }: Screen): string {
  const lines = text.trimEnd().split('\n')
  const rows = linesOfCells(lines).flatMap((cells) => wrapped(cells, columns))
  const width = 2 * MARGIN + columns * CELL
  const height = 2 * MARGIN + rows.length * LINE
  const drawn = rows.flatMap((cells, row) => {
    const y = MARGIN + row * LINE + FONT
    return runsOf(cells).map(({ column, text, classes }) => {
      const style = classes === '' ? '' : ` class="${classes}"`
      const [x, length] = [MARGIN + column * CELL, text.length * CELL].map((value) => Number(value.toFixed(1)))
      return `<text x="${x}" y="${y}" textLength="${length}" lengthAdjust="spacingAndGlyphs"${style}>${escaped(text)}</text>`
    })
  })
  const plain = lines.map((line) => line.replaceAll(SEQUENCE, '')).join('\n')
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="title text">`,
    `<title id="title">${escaped(title)}</title>`,
    `<desc id="text">${escaped(plain)}</desc>`,
    STYLE,
    `<rect class="window" x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="6"/>`,
    ...drawn,
    '</svg>',
    '',
  ].join('\n')
}

interface Cell {
  readonly text: string
  readonly classes: string
}

// oxlint-disable-next-line no-control-regex -- the escape sequences of a terminal begin with a control character
const SEQUENCE = /\u001B\[([\d;]*)([A-Za-z])/g
const COLOURS = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white']

/** The cells of each line. A style goes on over the end of a line. */
function linesOfCells(lines: readonly string[]): Cell[][] {
  let style: Style = PLAIN
  return lines.map((line) => {
    const cells: Cell[] = []
    let end = 0
    for (const match of line.matchAll(SEQUENCE)) {
      cells.push(...cellsOf(line.slice(end, match.index), style))
      style = styled(style, match)
      end = match.index + match[0].length
    }
    cells.push(...cellsOf(line.slice(end), style))
    return cells
  })
}

interface Style {
  readonly weight: '' | 'bold' | 'dim'
  readonly colour: string
}

const PLAIN: Style = { weight: '', colour: '' }

function styled(style: Style, [sequence, parameters = '', letter]: RegExpExecArray): Style {
  if (letter !== 'm') throw new Error(`a screenshot has no ${JSON.stringify(sequence)}: only colours are drawn`)
  return parameters.split(';').reduce((style, parameter): Style => {
    const code = Number(parameter)
    if (code === 0) return PLAIN
    if (code === 1) return { ...style, weight: 'bold' }
    if (code === 2) return { ...style, weight: 'dim' }
    if (code === 22) return { ...style, weight: '' }
    if (code === 39) return { ...style, colour: '' }
    // Bright colours look like the others: both are chosen for their contrast.
    const colour = COLOURS[code >= 90 ? code - 90 : code - 30]
    if (colour === undefined) throw new Error(`a screenshot has no ${JSON.stringify(sequence)}`)
    return { ...style, colour }
  }, style)
}

function cellsOf(text: string, { weight, colour }: Style): Cell[] {
  // oxlint-disable-next-line no-control-regex -- these would move the cursor, which nothing here does
  const control = /[\u0000-\u001F]/.exec(text)
  if (control !== null) throw new Error(`a screenshot has no ${JSON.stringify(control[0])}`)
  const classes = [weight, colour].filter((name) => name !== '').join(' ')
  return Array.from(text, (text) => ({ text, classes }))
}

function wrapped(cells: readonly Cell[], columns: number): Cell[][] {
  const rows = [cells.slice(0, columns)]
  for (let at = columns; at < cells.length; at += columns) rows.push(cells.slice(at, at + columns))
  return rows
}

/** Each run begins at its column, and ends where the style changes or before two spaces: so columns stay aligned in any font. */
function runsOf(cells: readonly Cell[]): Run[] {
  const runs: Run[] = []
  let from = 0
  for (let at = 1; at <= cells.length; at++) {
    if (cells[at]?.classes === cells[from]!.classes) continue
    const text = cells
      .slice(from, at)
      .map(({ text }) => text)
      .join('')
    for (const { 0: part, index } of text.matchAll(/\S+(?: \S+)*/g)) {
      runs.push({ column: from + index, text: part, classes: cells[from]!.classes })
    }
    from = at
  }
  return runs
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

/** The light colours have a contrast of at least 4.5 to the window, and so have the dark ones. */
const STYLE = `<style>
text { font: ${FONT}px ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace; fill: #1f2328 }
.window { fill: #f6f8fa; stroke: #d1d9e0 }
.bold { font-weight: 600 } .dim { fill: #59636e }
.red { fill: #b3261e } .green { fill: #116329 } .yellow { fill: #7d4e00 } .blue { fill: #0550ae }
.magenta { fill: #6639ba } .cyan { fill: #0f6b73 } .black, .white { fill: #1f2328 }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 }
.window { fill: #161b22; stroke: #3d444d }
.dim { fill: #9198a1 }
.red { fill: #ff7b72 } .green { fill: #56d364 } .yellow { fill: #e3b341 } .blue { fill: #79c0ff }
.magenta { fill: #d2a8ff } .cyan { fill: #56d4dd } .black, .white { fill: #e6edf3 }
}
</style>`
