// The ratios as bars, one for each work. The line at 1 stands for the other client.
import type { Row } from './row.ts'

const WIDTH = 760
const LABELS = 240
const BAR = 16
const STEP = 26
const TOP = 44
/** The ratio at the right edge. */
const WIDEST = 2

export function chart(rows: readonly Row[]): string {
  const scale = (WIDTH - LABELS - 60) / WIDEST
  const height = TOP + rows.length * STEP + 20
  const one = LABELS + scale
  const bars = rows.map(({ work, ratio }, index) => {
    const y = TOP + index * STEP
    const width = Math.min(ratio.median, WIDEST) * scale
    return [
      `<text x="${LABELS - 8}" y="${y + BAR - 4}" text-anchor="end">${work}</text>`,
      `<rect x="${LABELS}" y="${y}" width="${width.toFixed(1)}" height="${BAR}" fill="${ratio.median <= 1 ? '#2b8a3e' : '#c92a2a'}"/>`,
      `<text x="${(LABELS + width + 6).toFixed(1)}" y="${y + BAR - 4}">${ratio.median}</text>`,
    ].join('')
  })
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="12">`,
    `<rect width="${WIDTH}" height="${height}" fill="#fff"/>`,
    `<text x="${LABELS}" y="20" font-weight="bold">CPU of an operation, node-zookeeper-client = 1</text>`,
    ...bars,
    `<line x1="${one}" y1="${TOP - 10}" x2="${one}" y2="${height - 14}" stroke="#495057" stroke-dasharray="4 3"/>`,
    '</svg>',
    '',
  ].join('\n')
}
