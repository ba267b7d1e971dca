import type { Chapter } from './clause.ts'

export const watches: Chapter = {
  name: 'watches',
  title: 'Watches',
  introduction:
    'A read with `watch: true` sets a watch at the server of the session. The server sends an event, once, when the node changes.',
  clauses: [
    {
      number: 1,
      text: 'A watch that `getData` has set fires once: when the data of the node changes.',
      source: 'DataTree.setData, WatchManager.triggerWatch',
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/n')
          await a.getData('/n', true)
          await a.setData('/n', '1')
          await a.setData('/n', '2')
          for (const event of await t.events(a)) t.see(event)
        },
        expect: ['NodeDataChanged /n'],
      },
    },
    {
      number: 2,
      text: '`exists` sets a watch also if the node is missing; it fires when the node is created.',
      source: 'FinalRequestProcessor, DataTree.createNode',
      check: {
        play: async (t) => {
          const a = await t.open()
          t.see(t.error(await a.exists('/n', true)))
          await a.create('/n')
          for (const event of await t.events(a)) t.see(event)
        },
        expect: ['NoNode', 'NodeCreated /n'],
      },
    },
  ],
}
