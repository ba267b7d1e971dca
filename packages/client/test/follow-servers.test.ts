import { expect, test } from 'vitest'
import { parseConfig } from '../src/operations/ensemble-config.ts'
import { clientAddresses } from '../src/zookeeper/follow-servers.ts'

const addresses = (text: string) =>
  clientAddresses(parseConfig(text), { isSecure: false, port: NaN }).map(({ host, port }) => [host, port])

test.each([
  ['server.1=zk1:2888:3888:participant;2181', 'zk1', 2181],
  ['server.1=zk1:2888:3888:participant;0.0.0.0:2181', 'zk1', 2181],
  ['server.1=zk1:2888:3888:participant;[::]:2181', 'zk1', 2181],
  ['server.1=zk1:2888:3888:participant;[0:0:0:0:0:0:0:0]:2181', 'zk1', 2181],
  ['server.2=10.0.0.2:2888:3888:observer;10.0.0.9:2182', '10.0.0.9', 2182],
  ['server.3=[fd00::3]:2888:3888;2181', 'fd00::3', 2181],
  ['server.3=zk3:2888:3888;[fd00::9]:2181', 'fd00::9', 2181],
  ['server.4=a:2888:3888|b:2889:3889:participant;2181', 'a', 2181],
])('clientAddresses takes %s for %s, port %i', (line, host, port) => {
  expect(addresses(`${line}\nversion=0`)).toEqual([[host, port]])
})

test('clientAddresses leaves out servers that do not say where they take clients, and other lines', () => {
  const text = 'server.1=zk1:2888:3888:participant\ngroup.1=1:2\nserver.2=zk2:2888:3888;x\nversion=0'
  expect(addresses(text)).toEqual([])
  expect(addresses('')).toEqual([])
})

test.each([
  ['server.1=a:2888:3888;2181;2281', { isSecure: true, port: 2281 }, [['a', 2281]]],
  ['server.1=a:2888:3888:participant;0.0.0.0:2181;[fd00::1]:2281', { isSecure: true, port: 1 }, [['fd00::1', 2281]]],
  ['server.1=a:2888:3888;2181;2281', { isSecure: false, port: 2281 }, [['a', 2181]]],
  ['server.1=a:2888:3888;;2281', { isSecure: false, port: 2281 }, []],
  ['server.1=a:2888:3888;2181', { isSecure: true, port: 2281 }, []],
  // client.portUnification: the client uses TLS at the port without TLS.
  ['server.1=a:2888:3888;2181', { isSecure: true, port: 2181 }, [['a', 2181]]],
])('clientAddresses of %s fit a client %o', (line, connecting, expected) => {
  expect(clientAddresses(parseConfig(line), connecting).map(({ host, port }) => [host, port])).toEqual(expected)
})
