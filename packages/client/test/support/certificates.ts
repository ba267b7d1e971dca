// X.509 certificates for tests, made when they are needed: no openssl, no keys in the repository, none that expires there.
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { isIPv4 } from 'node:net'

/** PEM */
export interface Certified {
  readonly cert: string
  readonly key: string
}

interface Wish {
  /** The subject, the first part of which is the outermost. */
  readonly subject: readonly (readonly ['CN' | 'O' | 'C', string])[]
  /** Names and addresses (of version 4, or `::1`) that it is good for. @default none */
  readonly hosts?: readonly string[]
  /** Days from now from which it is good, and until which. @default -1 and 30 */
  readonly days?: readonly [number, number]
}

/** Signs certificates, and is trusted where its own `cert` is given as `ca`. */
export class Authority {
  readonly cert: string
  readonly #name: string
  readonly #key: KeyObject

  constructor(name = 'an authority for tests') {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    this.#name = name
    this.#key = privateKey
    this.cert = this.#certify({ subject: [['CN', name]] }, publicKey, [
      extension('2.5.29.19', true, sequence(tlv(0x01, Uint8Array.of(0xff)))),
    ])
  }

  /** For a server at these hosts. */
  forHosts(...hosts: string[]): Certified {
    return this.issue({ subject: [['CN', hosts[0]!]], hosts })
  }

  /** For a client of this name. */
  forClient(name: string): Certified {
    return this.issue({
      subject: [
        ['O', 'tests'],
        ['CN', name],
      ],
    })
  }

  issue(wish: Wish): Certified {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const hosts = wish.hosts ?? []
    const extensions = hosts.length === 0 ? [] : [extension('2.5.29.17', false, sequence(...hosts.map(generalName)))]
    return {
      cert: this.#certify(wish, publicKey, extensions),
      key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    }
  }

  #certify({ subject, days: [from, until] = [-1, 30] }: Wish, key: KeyObject, extensions: Uint8Array[]): string {
    const toBeSigned = sequence(
      tlv(0xa0, integer(2)),
      integer(serial++),
      ECDSA_WITH_SHA256,
      distinguishedName([['CN', this.#name]]),
      sequence(time(from), time(until)),
      distinguishedName(subject),
      key.export({ type: 'spki', format: 'der' }),
      ...(extensions.length === 0 ? [] : [tlv(0xa3, sequence(...extensions))]),
    )
    const signature = sign('sha256', toBeSigned, this.#key)
    const der = sequence(toBeSigned, ECDSA_WITH_SHA256, tlv(0x03, Uint8Array.of(0), signature))
    const lines =
      Buffer.from(der)
        .toString('base64')
        .match(/.{1,64}/g) ?? []
    return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n')
  }
}

let serial = 1

const ATTRIBUTES = { CN: '2.5.4.3', O: '2.5.4.10', C: '2.5.4.6' } as const

function distinguishedName(parts: Wish['subject']): Uint8Array {
  const relative = parts.map(([type, value]) =>
    tlv(0x31, sequence(oid(ATTRIBUTES[type]), tlv(type === 'C' ? 0x13 : 0x0c, Buffer.from(value)))),
  )
  return sequence(...relative)
}

function generalName(host: string): Uint8Array {
  if (isIPv4(host)) return tlv(0x87, Uint8Array.from(host.split('.'), Number))
  if (host === '::1') return tlv(0x87, Uint8Array.of(...new Uint8Array(15), 1))
  return tlv(0x82, Buffer.from(host))
}

function extension(id: string, isCritical: boolean, value: Uint8Array): Uint8Array {
  return sequence(oid(id), ...(isCritical ? [tlv(0x01, Uint8Array.of(0xff))] : []), tlv(0x04, value))
}

/** UTCTime */
function time(days: number): Uint8Array {
  const iso = new Date(Date.now() + days * 86_400_000).toISOString()
  return tlv(0x17, Buffer.from(`${iso.slice(2, 19).replaceAll(/[-T:]/g, '')}Z`))
}

// --- DER ----------------------------------------------------------------------------------------------------------

function tlv(tag: number, ...content: Uint8Array[]): Uint8Array {
  const value = Buffer.concat(content)
  const size = value.byteLength
  const length = size < 0x80 ? [size] : size < 0x100 ? [0x81, size] : [0x82, size >> 8, size & 0xff]
  return Buffer.concat([Uint8Array.of(tag, ...length), value])
}

function sequence(...content: Uint8Array[]): Uint8Array {
  return tlv(0x30, ...content)
}

function integer(value: number): Uint8Array {
  return tlv(0x02, Uint8Array.of(0, value >> 8, value & 0xff).subarray(value > 0x7fff ? 0 : value > 0x7f ? 1 : 2))
}

function oid(dotted: string): Uint8Array {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number)
  const bytes = rest.flatMap((part) => {
    const groups = [part & 0x7f]
    for (let more = part >> 7; more > 0; more >>= 7) groups.unshift((more & 0x7f) | 0x80)
    return groups
  })
  return tlv(0x06, Uint8Array.of(first * 40 + second, ...bytes))
}

const ECDSA_WITH_SHA256 = sequence(oid('1.2.840.10045.4.3.2'))
