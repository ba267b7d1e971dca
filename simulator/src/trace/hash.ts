/** A running hash of bytes, text and numbers, 64 bits in two lanes, equal on every engine (FNV-1a with integers only). */
export class Hash {
  #a = 0x811c9dc5 | 0
  #b = 0x2545f491 | 0

  bytes(bytes: Uint8Array): void {
    for (let each = 0; each < bytes.length; each++) this.#add(bytes[each]!)
    this.#add(bytes.length)
  }

  text(text: string): void {
    for (let each = 0; each < text.length; each++) this.#add(text.charCodeAt(each))
    this.#add(text.length)
  }

  /** 16 hexadecimal digits. */
  digest(): string {
    return [this.#a, this.#b].map((lane) => (lane >>> 0).toString(16).padStart(8, '0')).join('')
  }

  #add(value: number): void {
    this.#a = Math.imul(this.#a ^ value, 0x01000193)
    this.#b = Math.imul((this.#b << 5) ^ (this.#b >>> 27) ^ value, 0x01000193) ^ (this.#a >>> 15)
  }
}
