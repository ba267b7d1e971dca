// Code of docs/guide/production.md.

// #region log
import { jsonLogger } from '@zk/client' // npm install @zk/client
import { connect, type ZooKeeper } from '@zk/recipes'

async function connectWithLog(servers: string): Promise<ZooKeeper> {
  return await connect(servers, { logger: jsonLogger((line) => console.log(line)) })
}
// #endregion

export { connectWithLog }
