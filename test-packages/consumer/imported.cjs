// The same, from CommonJS of any age.
async function main() {
  const { connect, fencingText, Lock } = await import('@zk/recipes')
  const { TestServer } = await import('@zk/testing')
  const server = await TestServer.start()
  const zk = await connect(server.connectString)
  await new Lock(zk, '/locks/report').run((held) =>
    console.log(`held ${held.isHeld()} ${fencingText(held.fencingToken)}`),
  )
  await zk.close()
  await server.close()
}

void main()
