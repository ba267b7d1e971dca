// Words that tell whose answer they stand in, and that no mutation writes by accident.

/** `getData /a 7` with a checksum, as text that can be part of data and of names. */
export function sealed(text: string): string {
  return `<${text}#${checksum(text)}>`
}

/** What was sealed, wherever it stands in a value. What a mutation has touched is no seal any more. */
export function sealsIn(value: unknown): string[] {
  if (typeof value === 'string') return inText(value)
  if (value instanceof Uint8Array) return inText(latin1.decode(value))
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(sealsIn) : []
}

const latin1 = new TextDecoder('latin1')

function inText(text: string): string[] {
  return [...text.matchAll(/<([^<>#]*)#([0-9a-f]{8})>/g)]
    .filter(([, said = '', sum]) => checksum(said) === sum)
    .map(([, said = '']) => said)
}

/** FNV-1a */
function checksum(text: string): string {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  return (hash >>> 0).toString(16).padStart(8, '0')
}
