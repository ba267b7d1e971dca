// The proxy of @zk/wire's README in front of a real server, with zkCli of the nodes as its client: from Debian's
// `zookeeper` package, or from the official image.
import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { dockerClient, engineHost, LOOPBACK } from '../src/ensemble/docker.ts'
import { freePorts } from '../src/ensemble/free-ports.ts'
import { ask, until } from '../src/ensemble/index.ts'
import { describeEnsemble } from './support/describe-ensemble.ts'

const program = fileURLToPath(new URL('../../examples/dist/wire-proxy.js', import.meta.url))
const ZKCLI = `
  if command -v zkCli.sh >/dev/null; then set -- zkCli.sh -server "$1"
  else set -- java -cp '/zk/lib/*' org.apache.zookeeper.ZooKeeperMain -server "$1"; fi
  printf '%s\\n' "$COMMANDS" | "$@" 2>&1`

describeEnsemble('wire-proxy', (ensemble) => {
  const [node] = ensemble.nodes

  test('wire-proxy prints the messages between zkCli and a real server', async () => {
    await using proxy = await Proxy.start(node!.address)
    const path = `/wire-proxy-${proxy.port}`
    const output = await zkCli(ensemble.description.nodes[0]!.container, proxy, [
      `create ${path} hello`,
      `get -s -w ${path}`,
      `set ${path} world`,
      `ls -s ${path}`,
      `create -e -s ${path}/child-`,
      `stat ${path}`,
      `getAcl ${path}`,
      `setAcl ${path} world:anyone:cdrwa`,
      'addauth digest user:password',
      `addWatch -m PERSISTENT ${path}`,
      `create ${path}/watched`,
      'getEphemerals /',
      'whoami',
      `get ${path}/none`,
      `deleteall ${path}`,
      'quit',
    ])

    expect(output, 'what zkCli shows').toContain('hello')
    const all = await proxy.saidUpTo('< closeSession')
    // Pings come when there is time for them.
    const messages = all.filter((each) => !each.endsWith('ping'))
    expect(messages.slice(0, 6)).toEqual(['> connect', '< connected', '> create', '< create', '> getData', '< getData'])
    expect(new Set(messages)).toEqual(
      new Set(['> connect', '< connected', '< event', ...OPERATIONS.flatMap((op) => [`> ${op}`, `< ${op}`])]),
    )
    expect(proxy.output, 'values').toContain(`path: '${path}'`)
    expect(proxy.output, 'errors').toContain('err: -101')
    expectWholeMessages(proxy)
  })

  test('wire-proxy prints a four-letter word and the answer to it', async () => {
    await using proxy = await Proxy.start(node!.address)
    expect(await ask(proxy.port, 'srvr')).toMatch(/^Zookeeper version: /)
    expect(await proxy.saidUpTo('< text')).toEqual(['> text', '< text'])
    expectWholeMessages(proxy)
  })
})

/** The operations that zkCli of 3.8 sends for the commands above. */
const OPERATIONS = [
  'create',
  'getData',
  'setData',
  'getChildren2',
  'exists',
  'getACL',
  'setACL',
  'auth',
  'addWatch',
  'getEphemerals',
  'whoAmI',
  'getChildren',
  'multi',
  'closeSession',
]

/** Every message was decoded, to the last byte. */
function expectWholeMessages({ output }: Proxy): void {
  expect(output).not.toContain('Error')
  expect(output).not.toContain('rest:')
  expect(output).not.toContain('op: undefined')
}

/** The program, and its output. */
class Proxy implements AsyncDisposable {
  readonly port: number
  readonly #child: ChildProcess
  output = ''

  static async start(target: string): Promise<Proxy> {
    const [port] = await freePorts(1)
    const proxy = new Proxy(port!, target)
    await until('the proxy to listen', async () => proxy.output.startsWith('listening') || undefined, {
      timeout: 20_000,
      instead: async () => proxy.output,
    })
    return proxy
  }

  private constructor(port: number, target: string) {
    this.port = port
    // On all addresses: the client is in a container.
    this.#child = spawn(process.execPath, [program, `0.0.0.0:${port}`, target], { stdio: ['ignore', 'pipe', 'pipe'] })
    for (const stream of [this.#child.stdout!, this.#child.stderr!]) {
      stream.on('data', (chunk: Buffer) => (this.output += chunk.toString()))
    }
  }

  /** Direction and name of each message. */
  messages(): string[] {
    const messages = this.output.matchAll(/^([<>]) \{\s+type: '(\w+)',(?:\s+op: '(\w+)')?/gm)
    return Array.from(messages, ([, arrow, type, op]) => `${arrow} ${op ?? type}`)
  }

  /** All messages up to this one, which the program may print a little later than we see its effect. */
  saidUpTo(last: string): Promise<string[]> {
    const attempt = async (): Promise<string[] | undefined> =>
      this.messages().at(-1) === last ? this.messages() : undefined
    return until(`the proxy to print "${last}"`, attempt, { timeout: 10_000, instead: async () => this.output })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill()
  }
}

/** Runs zkCli in a node's container, through the proxy on this machine. */
async function zkCli(containerId: string, proxy: Proxy, commands: readonly string[]): Promise<string> {
  if ((await engineHost()) !== LOOPBACK) {
    throw new Error('The Docker engine is on another machine: zkCli, in a container there, cannot reach a proxy here.')
  }
  const { container } = await dockerClient()
  const { NetworkSettings } = await container.getById(containerId).inspect()
  // From the containers, this machine is the gateway of their bridge, or has this name if they are in a VM.
  const gateway = NetworkSettings.Networks['bridge']?.Gateway || 'host.docker.internal'
  const { output } = await container.exec(
    container.getById(containerId),
    ['sh', '-c', ZKCLI, 'sh', `${gateway}:${proxy.port}`],
    { env: { COMMANDS: commands.join('\n') } },
  )
  if (proxy.messages().length > 0) return output
  throw new Error(`zkCli did not reach the proxy at ${gateway}:${proxy.port}; does a firewall keep it off?\n${output}`)
}
