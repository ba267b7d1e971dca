import { expect, test } from 'vitest'
import { parseConfig } from '../src/operations/ensemble-config.ts'

test('parseConfig reads servers, their addresses for each other and for clients, and the version', () => {
  const text = [
    'server.1=zk1:2888:3888:participant;0.0.0.0:2181',
    'server.2=10.0.0.2:2888:3888:observer;2182',
    'server.30=[fd00::3]:2888:3888:participant;[fd00::3]:2181',
    'server.4=a4:2888:3888|b4:2889:3889:participant',
    'version=100000003',
  ].join('\n')
  expect(parseConfig(text)).toEqual({
    servers: [
      {
        id: 1,
        role: 'participant',
        addresses: [{ host: 'zk1', quorumPort: 2888, electionPort: 3888 }],
        client: { host: '0.0.0.0', port: 2181 },
        secureClient: undefined,
      },
      {
        id: 2,
        role: 'observer',
        addresses: [{ host: '10.0.0.2', quorumPort: 2888, electionPort: 3888 }],
        client: { host: '0.0.0.0', port: 2182 },
        secureClient: undefined,
      },
      {
        id: 30,
        role: 'participant',
        addresses: [{ host: 'fd00::3', quorumPort: 2888, electionPort: 3888 }],
        client: { host: 'fd00::3', port: 2181 },
        secureClient: undefined,
      },
      {
        id: 4,
        role: 'participant',
        addresses: [
          { host: 'a4', quorumPort: 2888, electionPort: 3888 },
          { host: 'b4', quorumPort: 2889, electionPort: 3889 },
        ],
        client: undefined,
        secureClient: undefined,
      },
    ],
    version: 0x1_0000_0003n,
    text,
  })
})

test('parseConfig takes a server without a role for a participant', () => {
  expect(parseConfig('server.1=zk1:2888:3888').servers).toMatchObject([{ id: 1, role: 'participant' }])
})

test('parseConfig: a standalone server has an empty one', () => {
  expect(parseConfig('')).toEqual({ servers: [], version: 0n, text: '' })
})

test.each([
  'group.1=1:2:3',
  'weight.1=2',
  'server.x=a:1:2',
  'server.1=a:1',
  'server.1=;2181',
  'version=-1',
  'version=x',
  '\u0000',
])('parseConfig leaves %j to the text', (text) => {
  expect(parseConfig(text)).toEqual({ servers: [], version: 0n, text })
})

test.each([
  ['0.0.0.0:2181;0.0.0.0:2281', { host: '0.0.0.0', port: 2181 }, { host: '0.0.0.0', port: 2281 }],
  ['zk1c:2181;zk1s:2281', { host: 'zk1c', port: 2181 }, { host: 'zk1s', port: 2281 }],
  ['2181;2281', { host: '0.0.0.0', port: 2181 }, { host: '0.0.0.0', port: 2281 }],
  [';0.0.0.0:2281', undefined, { host: '0.0.0.0', port: 2281 }],
])('parseConfig keeps the port without TLS and the one with it apart: ;%s', (ports, client, secureClient) => {
  const { servers } = parseConfig(`server.1=zk1:2888:3888:participant;${ports}`)
  expect(servers).toMatchObject([{ id: 1, role: 'participant', client, secureClient }])
})
