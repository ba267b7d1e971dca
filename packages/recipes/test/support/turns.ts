import { expect } from 'vitest'
import type { Held } from '../../src/index.ts'
import { outcome, type Outcome } from './outside.ts'
import type { Scene } from './scene.ts'

/** In ms; members may need some time for each other. */
const HAND_OVER = 20

/**
 * Has all of them hold and release, one after the other, until no contender holds: in the order in which they held. Fails when two
 * hold at a time.
 */
export async function turns(scene: Scene, asked: readonly Outcome<Held>[]): Promise<Held[]> {
  const granted: Held[] = []
  for (let holding = holders(asked); holding.length > 0; holding = holders(asked)) {
    expect(holding.map(({ path }) => path)).toHaveLength(1)
    granted.push(holding[0]!)
    const releasing = outcome(holding[0]!.release())
    await scene.world.advance(HAND_OVER)
    expect(releasing.status).toBe('fulfilled')
  }
  return granted
}

/** What is held of what was asked for. */
export function holders(asked: readonly Outcome<Held>[]): Held[] {
  return asked.flatMap((each) => (each.status === 'fulfilled' && each.value.isHeld() ? [each.value] : []))
}

export function rises(tokens: readonly bigint[]): boolean {
  return tokens.every((token, index) => index === 0 || tokens[index - 1]! < token)
}
