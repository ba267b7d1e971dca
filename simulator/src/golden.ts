import { drawnNames } from './recipes/index.ts'
import { simulate } from './simulate.ts'
import { Hash } from './trace/hash.ts'

/** One hash over the whole traces of the first seeds, of all recipes in turn. */
export async function goldenHash(seeds: number): Promise<string> {
  const all = new Hash()
  for (let seed = 1; seed <= seeds; seed++) {
    const recipe = drawnNames[seed % drawnNames.length]!
    const { hash } = await simulate({ seed, recipe, hash: true })
    all.text(`${seed} ${recipe} ${hash}`)
  }
  return all.digest()
}
