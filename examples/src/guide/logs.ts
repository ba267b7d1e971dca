// Code of docs/guide/production.md.

// #region log
import { connect, type ZooKeeper } from '@zk/recipes'

async function connectWithLog(servers: string): Promise<ZooKeeper> {
  return await connect(servers, {
    // A line of JSON each. In place of a function, the logger may be that of pino or winston, or console.
    logger: (level, message, fields) => console.log(JSON.stringify({ time: Date.now(), level, message, ...fields })),
  })
}
// #endregion

export { connectWithLog }
