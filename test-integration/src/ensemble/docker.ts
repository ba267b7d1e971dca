import { existsSync } from 'node:fs'
import type { ContainerRuntimeClient } from 'testcontainers'

export type DockerReach = { readonly reachable: true } | { readonly reachable: false; readonly reason: string }

/** Whether a Docker engine answers. If none does, `reason` says how to get one. */
export async function reachDocker(): Promise<DockerReach> {
  try {
    await dockerClient()
    return { reachable: true }
  } catch (error) {
    return { reachable: false, reason: error instanceof Error ? error.message : String(error) }
  }
}

/** The engine that testcontainers has found. Rejects if none answers. */
export async function dockerClient(): Promise<ContainerRuntimeClient> {
  const { getContainerRuntimeClient } = await testcontainers()
  try {
    return await getContainerRuntimeClient()
  } catch (cause) {
    throw new Error(`No Docker engine answers. ${HOW_TO_GET_ONE}`, { cause })
  }
}

/** Imported at its first use, because a test that only connects to an ensemble does not need it. */
export async function testcontainers(): Promise<typeof import('testcontainers')> {
  // The reaper of testcontainers is a separate image in a registry that may be out of reach. Our sweeper replaces it.
  process.env['TESTCONTAINERS_RYUK_DISABLED'] = 'true'
  // In a container, testcontainers assumes that the engine is outside, and pulls an image to find its address.
  if (isEngineHere()) process.env['TESTCONTAINERS_HOST_OVERRIDE'] ??= LOOPBACK
  return import('testcontainers')
}

/** The host on which ports are published: the loopback address if the engine is on this machine. */
export async function engineHost(): Promise<string> {
  const { host } = (await dockerClient()).info.containerRuntime
  return host === 'localhost' ? LOOPBACK : host
}

export const LOOPBACK = '127.0.0.1'

/** The HTTP status in an error of the engine; undefined if it has none. */
export function statusOf(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null || !('statusCode' in error)) return undefined
  return typeof error.statusCode === 'number' ? error.statusCode : undefined
}

/** Whether an engine has its bridge on our own network. We may run in a container or not. */
function isEngineHere(): boolean {
  return process.env['DOCKER_HOST'] === undefined && existsSync('/sys/class/net/docker0')
}

const HOW_TO_GET_ONE =
  'On Debian, as root: apt-get install docker.io iptables, then start dockerd; `.ci/run` does both. ' +
  'Elsewhere start Docker Desktop, or name a remote engine in DOCKER_HOST.'
