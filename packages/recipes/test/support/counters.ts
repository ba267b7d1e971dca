// The counters that number the children of a path.
import { Scene, type SceneOptions } from './scene.ts'

/** The last number there is. */
export const LAST = 2 ** 31 - 1

/** A scene with a path whose next contender gets this number. */
export function countedTo(path: string, counter: number, options: SceneOptions = {}): Scene {
  const scene = new Scene(options)
  scene.ensemble.nodes.create(path)
  scene.ensemble.nodes.presetCounter(path, counter)
  return scene
}

/** The numbers of the contenders, in the order of their creation. */
export function numbers(scene: Scene, path: string): number[] {
  return scene.children(path).map((name) => Number(/(?:-|__)(-?\d{9,10})$/.exec(name)![1]))
}

/** The numbers of the children, in the order of their creation. */
export function paths(scene: Scene, path: string): string[] {
  return scene.children(path).map((name) => `${path}/${name}`)
}
