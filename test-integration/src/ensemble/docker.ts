import type { ContainerRuntimeClient } from 'testcontainers'

export type DockerReach = { readonly reachable: true } | { readonly reachable: false; readonly reason: string }

/** Does a Docker engine answer, and if none does, how to get one. */
export async function reachDocker(): Promise<DockerReach> {
  try {
    await dockerClient()
    return { reachable: true }
  } catch (error) {
    return { reachable: false, reason: error instanceof Error ? error.message : String(error) }
  }
}

/** The engine, through what testcontainers found out about it. Rejects when none answers. */
export async function dockerClient(): Promise<ContainerRuntimeClient> {
  const { getContainerRuntimeClient } = await testcontainers()
  try {
    return await getContainerRuntimeClient()
  } catch (cause) {
    throw new Error(`No Docker engine answers. ${HOW_TO_GET_ONE}`, { cause })
  }
}

/** Loaded when first needed: a test that only connects to an ensemble need not pay for it. */
export async function testcontainers(): Promise<typeof import('testcontainers')> {
  // Its reaper is an image of its own, from a registry that may be out of reach. Our sweeper does that work.
  process.env['TESTCONTAINERS_RYUK_DISABLED'] = 'true'
  return import('testcontainers')
}

/** The HTTP status of an error from the engine. */
export function statusOf(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null || !('statusCode' in error)) return undefined
  return typeof error.statusCode === 'number' ? error.statusCode : undefined
}

const HOW_TO_GET_ONE =
  'On Debian, as root: apt-get install docker.io iptables, then start dockerd; `.ci/run` does both. ' +
  'Elsewhere start Docker Desktop, or name a remote engine in DOCKER_HOST.'
