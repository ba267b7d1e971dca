import { existsSync } from 'node:fs'
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
  // In a container it takes the engine to be outside, and pulls an image to find out where.
  if (isEngineHere()) process.env['TESTCONTAINERS_HOST_OVERRIDE'] ??= LOOPBACK
  return import('testcontainers')
}

/** Where published ports are: the loopback address for an engine on this machine. */
export async function engineHost(): Promise<string> {
  const { host } = (await dockerClient()).info.containerRuntime
  return host === 'localhost' ? LOOPBACK : host
}

export const LOOPBACK = '127.0.0.1'

/** The HTTP status of an error from the engine. */
export function statusOf(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null || !('statusCode' in error)) return undefined
  return typeof error.statusCode === 'number' ? error.statusCode : undefined
}

/** An engine on our own network, container or not, has its bridge there. */
function isEngineHere(): boolean {
  return process.env['DOCKER_HOST'] === undefined && existsSync('/sys/class/net/docker0')
}

const HOW_TO_GET_ONE =
  'On Debian, as root: apt-get install docker.io iptables, then start dockerd; `.ci/run` does both. ' +
  'Elsewhere start Docker Desktop, or name a remote engine in DOCKER_HOST.'
