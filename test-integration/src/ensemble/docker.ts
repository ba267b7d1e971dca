import { existsSync } from 'node:fs'
import type { ContainerRuntimeClient } from 'testcontainers'

export type DockerReach = { readonly reachable: true } | { readonly reachable: false; readonly reason: string }

/** Whether a Docker engine answers; if none does, how to get one. */
export async function reachDocker(): Promise<DockerReach> {
  try {
    await dockerClient()
    return { reachable: true }
  } catch (error) {
    return { reachable: false, reason: error instanceof Error ? error.message : String(error) }
  }
}

/** The engine that testcontainers has found. Rejects when none answers. */
export async function dockerClient(): Promise<ContainerRuntimeClient> {
  const { getContainerRuntimeClient } = await testcontainers()
  try {
    return await getContainerRuntimeClient()
  } catch (cause) {
    throw new Error(`No Docker engine answers. ${HOW_TO_GET_ONE}`, { cause })
  }
}

/** Loaded on first use: a test that only connects to an ensemble does not need it. */
export async function testcontainers(): Promise<typeof import('testcontainers')> {
  // Testcontainers' reaper is an image of its own, from a registry that may be out of reach. Our sweeper does its work.
  process.env['TESTCONTAINERS_RYUK_DISABLED'] = 'true'
  // In a container, testcontainers takes the engine to be outside and pulls an image to find its address.
  if (isEngineHere()) process.env['TESTCONTAINERS_HOST_OVERRIDE'] ??= LOOPBACK
  return import('testcontainers')
}

/** The host of published ports: the loopback address for an engine on this machine. */
export async function engineHost(): Promise<string> {
  const { host } = (await dockerClient()).info.containerRuntime
  return host === 'localhost' ? LOOPBACK : host
}

export const LOOPBACK = '127.0.0.1'

/** The HTTP status of an error of the engine. */
export function statusOf(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null || !('statusCode' in error)) return undefined
  return typeof error.statusCode === 'number' ? error.statusCode : undefined
}

/** An engine on our own network, in a container or not, has its bridge here. */
function isEngineHere(): boolean {
  return process.env['DOCKER_HOST'] === undefined && existsSync('/sys/class/net/docker0')
}

const HOW_TO_GET_ONE =
  'On Debian, as root: apt-get install docker.io iptables, then start dockerd; `.ci/run` does both. ' +
  'Elsewhere start Docker Desktop, or name a remote engine in DOCKER_HOST.'
