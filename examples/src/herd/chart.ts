// Draws the results as SVG: two panels with logarithmic scales in both directions.
import type { Cost } from './measure.ts'

export type Series = Readonly<Record<string, readonly Cost[]>>

const WIDTH = 360
const HEIGHT = 260
const MARGIN = { left: 64, top: 48, between: 90, bottom: 48 }
const COLOURS = ['#b3541e', '#7a5ea8', '#1f6f8b']

const panels = [
  { title: 'notifications per release', of: ({ notifications }: Cost) => notifications },
  { title: 'bytes from servers per release', of: ({ bytes }: Cost) => bytes },
]

export function chart(series: Series): string {
  const width = MARGIN.left + 2 * WIDTH + MARGIN.between + 24
  const height = MARGIN.top + HEIGHT + MARGIN.bottom + 20
  const legend = Object.keys(series).map((name, index) => {
    const x = MARGIN.left + index * 200
    return `<rect x="${x}" y="10" width="12" height="12" fill="${COLOURS[index]}"/><text x="${x + 18}" y="20">${name}</text>`
  })
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12">`,
    `<rect width="${width}" height="${height}" fill="white"/>`,
    ...legend,
    ...panels.map(({ title, of }, index) => panel(series, title, of, MARGIN.left + index * (WIDTH + MARGIN.between))),
    '</svg>',
    '',
  ].join('\n')
}

function panel(series: Series, title: string, of: (cost: Cost) => number, left: number): string {
  const costs = Object.values(series).flat()
  const x = scale(Math.min(...costs.map(({ waiters }) => waiters)), Math.max(...costs.map(({ waiters }) => waiters)))
  const y = scale(1, 10 ** Math.ceil(Math.log10(Math.max(...costs.map(of)))))
  const at = (cost: Cost): [number, number] => [
    round(left + x(cost.waiters) * WIDTH),
    round(MARGIN.top + HEIGHT - y(Math.max(of(cost), 1)) * HEIGHT),
  ]
  const lines = Object.values(series).map((list, index) => {
    const points = list.map(at)
    const dots = points.map(([cx, cy]) => `<circle cx="${cx}" cy="${cy}" r="3" fill="${COLOURS[index]}"/>`)
    const path = points.map((point) => point.join(',')).join(' ')
    return `<polyline points="${path}" fill="none" stroke="${COLOURS[index]}" stroke-width="2"/>${dots.join('')}`
  })
  const waiters = [...new Set(costs.map((cost) => cost.waiters))]
  const ticks = waiters.map(
    (count) =>
      `<text x="${round(left + x(count) * WIDTH)}" y="${MARGIN.top + HEIGHT + 18}" text-anchor="middle">${count}</text>`,
  )
  const grid: string[] = []
  for (let value = 1; y(value) <= 1.000_001; value *= 10) {
    const height = round(MARGIN.top + HEIGHT - y(value) * HEIGHT)
    grid.push(
      `<line x1="${left}" y1="${height}" x2="${left + WIDTH}" y2="${height}" stroke="#ddd"/>`,
      `<text x="${left - 8}" y="${height + 4}" text-anchor="end">${value.toLocaleString('en')}</text>`,
    )
  }
  const caption = `<text x="${left + WIDTH / 2}" y="${MARGIN.top + HEIGHT + 40}" text-anchor="middle">waiters</text>`
  return `<text x="${left}" y="${MARGIN.top - 8}" font-weight="bold">${title}</text>\n${[...grid, ...ticks, caption, ...lines].join('\n')}`
}

/** Maps values to the range from 0 to 1, on a logarithmic scale. */
function scale(least: number, most: number): (value: number) => number {
  return (value) => Math.log(value / least) / Math.log(most / least)
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
