import { RecipeError } from '../errors/recipe-error.ts'

/** The error of a mirror that has ended because its tree exceeds this limit. */
export function tooLarge(path: string, bound: 'maxNodes' | 'maxBytes', limit: number, found: number): RecipeError {
  const what = bound === 'maxNodes' ? 'nodes' : 'bytes of data and names'
  const message =
    `${path} has at least ${found} ${what}, and its mirror was opened with { ${bound}: ${limit} }: raise the bound, or ` +
    'mirror less of it with filter or depth'
  return new RecipeError('MirrorTooLarge', path, message, { bound, limit, found })
}
