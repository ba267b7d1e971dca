// Clients whose own queue has room for one call or two: recipes send several requests in one segment.
import { describe, expect, test } from 'vitest'
import * as recipes from '../../src/index.ts'
import { everyRecipe } from '../support/every-recipe.ts'
import { outcome } from '../support/outside.ts'
import { nothing, Scene } from '../support/scene.ts'

/** Longer than the pauses after refused calls. In ms. */
const LONG = 60_000

describe.each([1, 2])('With maxInFlight and maxWaiting of %i', (limit) => {
  test.each(Object.entries(everyRecipe))(`%s does what it is for (${limit})`, async (_, { use }) => {
    const scene = new Scene()
    const zk = await scene.client({ advanced: { maxInFlight: limit, maxWaiting: limit } })
    const using = outcome(use(recipes, zk))
    await scene.world.advance(LONG)
    expect(using.value).toBe(true)
    expect(scene.leftovers()).toEqual(nothing)
  })
})
