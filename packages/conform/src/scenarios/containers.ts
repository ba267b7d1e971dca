import { CreateMode } from '@zk/wire'
import { group } from './group.ts'

export const containers = group('containers', {
  'a container is deleted some time after its last child': async (s) => {
    const { a, b } = await s.pair()
    await a.create('/c', { op: 'createContainer', flags: CreateMode.CONTAINER })
    await a.create('/c/x')
    await s.settle()
    await b.exists('/c', true)
    await b.getChildren('/', true)
    await a.delete('/c/x')
    await b.connection.heardEvents(2)
    await b.getChildren2('/')
    await s.settle()
    await a.create('/c/x')
    await a.close()
    await b.close()
  },

  'a container that never had a child stays': async (s) => {
    const a = await s.open()
    await a.create('/c', { op: 'createContainer', flags: CreateMode.CONTAINER })
    // Deleted at the servers' next check for empty ones, twice.
    for (const [i, path] of ['/one', '/other'].entries()) {
      await a.create(path, { op: 'createContainer', flags: CreateMode.CONTAINER })
      await a.create(`${path}/x`)
      await a.exists(path, true)
      await a.delete(`${path}/x`)
      await a.connection.heardEvents(i + 1)
    }
    await a.exists('/c')
    await a.close()
  },

  'a container is deleted when its last child was ephemeral, or a container': async (s) => {
    const a = await s.open()
    const b = await s.open()
    await a.create('/outer', { op: 'createContainer', flags: CreateMode.CONTAINER })
    await a.create('/outer/inner', { op: 'createContainer', flags: CreateMode.CONTAINER })
    await b.create('/outer/inner/e', { flags: CreateMode.EPHEMERAL })
    await a.exists('/outer', true)
    await a.exists('/outer/inner', true)
    await b.close()
    await a.connection.heardEvents(2)
    await a.getChildren2('/')
    await a.close()
  },
})
