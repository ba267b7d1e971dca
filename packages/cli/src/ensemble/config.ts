// `zk config`: the members of the ensemble.
import { formatServer } from '@zk/wire'
import type { Command } from '../command/command.ts'
import { withClient } from '../command/connection.ts'
import { EXIT } from '../command/exit.ts'
import { checkNoWords } from '../command/options.ts'
import { print, printJson, say } from '../command/output.ts'
import { table } from '../command/table.ts'

export const CONFIG: Command = {
  usage: '[options]',
  options: [{ name: 'json', help: 'print JSON' }],
  notes: `From /zookeeper/config: id, role (participant or observer), the addresses for quorum and election, and those for
clients. Standard error gets the version of the configuration. A server on its own has no members.

Example:
  zk config --json | jq -r '.servers[] | select(.role == "observer").id'
`,
  run: async (args) => {
    checkNoWords(args, 'config')
    return withClient(args, async (zk) => {
      const { config } = await zk.getConfig()
      const configVersion = `0x${config.version.toString(16)}`
      if (args.has('json')) printJson({ configVersion, servers: config.servers })
      else {
        const rows = config.servers.map(({ id, role, addresses, client, secureClient }) => [
          String(id),
          role,
          addresses
            .map(({ host, quorumPort, electionPort }) => `${formatServer({ host, port: quorumPort })}:${electionPort}`)
            .join('|'),
          client === undefined ? '-' : formatServer(client),
          secureClient === undefined ? '-' : formatServer(secureClient),
        ])
        if (rows.length === 0) say('the configuration names no members')
        else {
          say(`version ${configVersion}`)
          print(table([['ID', 'ROLE', 'QUORUM:ELECTION', 'CLIENTS', 'TLS'], ...rows]))
        }
      }
      return EXIT.done
    })
  },
}
