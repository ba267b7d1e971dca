// The same, from CommonJS.
const { connect, fencingText, Lock } = require('@zk/recipes')
const { TestServer } = require('@zk/testing')

async function main() {
  const server = await TestServer.start()
  const zk = await connect(server.connectString)
  await new Lock(zk, '/locks/report').run((held) =>
    console.log(`held ${held.isHeld()} ${fencingText(held.fencingToken)}`),
  )
  await zk.close()
  await server.close()
}

void main()
