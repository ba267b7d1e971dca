// The growths as lines, with one panel for each. The size is on a logarithmic scale, and the cost begins at zero.
import { FLOOR, type Grown, OURS, PEER } from './row.ts'

const WIDTH = 250
const HEIGHT = 170
const LEFT = 50
const TOP = 64
const GAP = 30
const colors: Readonly<Record<string, string>> = { [OURS]: '#2b8a3e', [PEER]: '#c92a2a', [FLOOR]: '#868e96' }

export function growthChart(grew: readonly Grown[]): string {
  const width = grew.length * (LEFT + WIDTH + GAP)
  const height = TOP + HEIGHT + 50
  const legend = Object.entries(colors).map(
    ([client, color], index) =>
      `<text x="${LEFT + index * 190}" y="20" fill="${color}" font-weight="bold">${client}</text>`,
  )
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12">`,
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    ...legend,
    ...grew.map((each, index) => panel(each, LEFT + index * (LEFT + WIDTH + GAP))),
    '</svg>',
    '',
  ].join('\n')
}

function panel({ subject, unit, points }: Grown, left: number): string {
  const largest = Math.max(...points.flatMap(({ cpu }) => Object.values(cpu).map(({ median }) => median)))
  const first = Math.log(points[0]!.size)
  const last = Math.log(points.at(-1)!.size)
  const x = (size: number) => (left + ((Math.log(size) - first) / (last - first)) * WIDTH).toFixed(1)
  const y = (cost: number) => (TOP + HEIGHT * (1 - cost / largest)).toFixed(1)
  const bottom = TOP + HEIGHT
  const lines = Object.entries(colors).map(([client, color]) => {
    const corners = points.map(({ size, cpu }) => `${x(size)},${y(cpu[client]!.median)}`)
    return `<polyline points="${corners.join(' ')}" fill="none" stroke="${color}" stroke-width="2"/>`
  })
  return [
    `<text x="${left}" y="${TOP - 20}" font-weight="bold">${subject}, µs</text>`,
    `<path d="M${left} ${TOP}V${bottom}H${left + WIDTH}" fill="none" stroke="#495057"/>`,
    `<text x="${left - 6}" y="${TOP + 4}" text-anchor="end">${largest}</text>`,
    `<text x="${left - 6}" y="${bottom}" text-anchor="end">0</text>`,
    ...points.map(
      ({ size }) => `<text x="${x(size)}" y="${bottom + 16}" text-anchor="middle">${size.toLocaleString('en')}</text>`,
    ),
    `<text x="${left + WIDTH / 2}" y="${bottom + 36}" text-anchor="middle">${unit}</text>`,
    ...lines,
  ].join('')
}
