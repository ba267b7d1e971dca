// Colours of a terminal.

export type Paint = (colour: keyof typeof CODES, text: string) => string

const CODES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33 }

export const inColour: Paint = (colour, text) => `\u001B[${CODES[colour]}m${text}\u001B[0m`

/** In colour on a terminal, unless its user wants none. */
export const paint: Paint = (colour, text) =>
  process.stdout.isTTY && !process.env['NO_COLOR'] ? inColour(colour, text) : text
