// Connects once with the given settings, and prints the result in one line. Tests run this in other runtimes than their own.
import { connect, ConnectError, type ConnectOptions, digestMd5, type DigestMd5Options, KeeperError } from '@zk/client'

interface Settings extends Pick<ConnectOptions, 'connectTimeout' | 'tls'> {
  readonly connectString: string
  readonly sasl?: DigestMd5Options
}

const { connectString, sasl, ...options } = JSON.parse(process.argv[2] ?? '') as Settings
try {
  const zk = await connect(connectString, { ...options, ...(sasl !== undefined && { sasl: digestMd5(sasl) }) })
  await zk.getData('/')
  await zk.close()
  console.log('connected')
} catch (error) {
  if (ConnectError.is(error)) console.log(`ConnectError: ${error.servers[0]!.error.message}`)
  else if (KeeperError.is(error)) console.log(error.code)
  else throw error
}
