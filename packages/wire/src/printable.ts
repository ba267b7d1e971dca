// Controls (C0, DEL, C1), marks of direction, separators of lines, the byte order mark.
const UNPRINTABLE = /[\p{Cc}\p{Bidi_C}\p{Zl}\p{Zp}\ufeff]/gu

/**
 * Escapes characters that a terminal or a log viewer would obey and not show, as `\u001b`: control characters, line ends, and
 * those that change the direction of text. For text that came from a server or a node, in a message for people.
 */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
