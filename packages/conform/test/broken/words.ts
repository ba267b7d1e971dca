import type { BrokenServer } from './broken-server.ts'

export const words: readonly BrokenServer[] = [
  {
    clause: 'words/1',
    does: 'keeps the connection after a word',
    replace: 'this.end(`${word} was answered`)',
    with: '',
  },
  {
    clause: 'words/4',
    does: 'accepts words in upper case',
    replace: 'const word = String.fromCharCode(...bytes.subarray(0, WORD_SIZE))',
    with: 'const word = String.fromCharCode(...bytes.subarray(0, WORD_SIZE)).toLowerCase()',
  },
  {
    clause: 'words/6',
    does: 'spells ZooKeeper in another way',
    replace: 'srvr: whileServing((server) => `Zookeeper version:',
    with: 'srvr: whileServing((server) => `ZooKeeper version:',
  },
  {
    clause: 'words/7',
    does: 'calls a leader primary',
    replace: '`Mode: ${member.role}`',
    with: "`Mode: ${member.role === 'leader' ? 'primary' : member.role}`",
  },
  {
    clause: 'words/8',
    does: 'calls a follower a leader',
    replace: '`Mode: ${member.role}`',
    with: '`Mode: leader`',
  },
  {
    clause: 'words/9',
    does: 'shows its zxid as a decimal number',
    replace: '`Zxid: 0x${unsignedHex(member.tree.lastProcessedZxid)}`',
    with: '`Zxid: ${member.tree.lastProcessedZxid}`',
  },
  {
    clause: 'words/10',
    does: 'does not show the number of nodes',
    replace: '`Node count: ${member.tree.nodeCount}`',
    with: '`Nodes: ${member.tree.nodeCount}`',
  },
  {
    clause: 'words/11',
    does: 'answers ruok with a line feed',
    replace: "ruok: () => 'imok'",
    with: "ruok: () => 'imok\\n'",
  },
  {
    clause: 'words/12',
    does: 'answers isro with a line feed',
    replace: "member.isServing() ? 'rw' : 'null'",
    with: "member.isServing() ? 'rw\\n' : 'null'",
  },
  {
    clause: 'words/13',
    does: 'has spaces in place of tabs in mntr',
    replace: '`zk_${key}\\t${value}\\n`',
    with: '`zk_${key} ${value}\\n`',
  },
  {
    clause: 'words/14',
    does: 'does not show the timeout of a session in cons',
    replace: "['to', timeOut],",
    with: '',
  },
  {
    clause: 'words/15',
    does: 'does not show the version in envi',
    replace: "['zookeeper.version', versionOf(release)],",
    with: '',
  },
  {
    clause: 'words/16',
    does: 'does not show the clients in stat',
    replace: '\\nClients:\\n${clients.join(',
    with: '\\n${[].join(',
  },
  {
    clause: 'words/17',
    does: 'answers nothing while it has no leader',
    replace: 'answer(server) : NOT_SERVING)',
    with: "answer(server) : '')",
  },
]
