// Takes a lock, as TypeScript that compiles to CommonJS and knows no `exports` in a package.json.
import { connect, fencingText, type Held, Lock } from '@zk/recipes'
import { TestServer } from '@zk/testing'
import { type TypeOf } from '@zk/wire'
import { TxnHeader } from '@zk/wire/server'

async function main(): Promise<void> {
  const server = await TestServer.start()
  const zk = await connect(server.connectString)
  await new Lock(zk, '/locks/report').run(report)
  await zk.close()
  await server.close()
}

function report(held: Held): void {
  const fields: (keyof TypeOf<typeof TxnHeader>)[] = ['clientId', 'zxid']
  const known = fields.every((field) => field in TxnHeader.fields)
  console.log(`held ${held.isHeld() && known} ${fencingText(held.fencingToken)}`)
}

void main()
