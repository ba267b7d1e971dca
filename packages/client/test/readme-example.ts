import { connect, type ConnectOptions, KeeperError, op } from '../src/index.ts'

async function main(options?: ConnectOptions): Promise<void> {
  await using zk = await connect('zk1:2181,zk2:2181,zk3:2181/app', options) // closed at the end of the block

  await zk.create('/config', 'one')
  const { text, stat, changed } = await zk.getDataAndWatch('/config')
  console.log(text)

  const [order] = await zk.multi([
    op.create('/order-', 'a book', { mode: 'PERSISTENT_SEQUENTIAL' }),
    op.setData('/config', 'two', { version: stat.version }),
  ])
  console.log(order.path, (await changed).type)

  try {
    await zk.setData('/config', 'three', { version: stat.version, timeout: 5_000 })
  } catch (error) {
    if (!KeeperError.is(error, 'BadVersion')) throw error
    console.log(error.message)
  }
}

export { main }
