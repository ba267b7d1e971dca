import { RecipeError } from '../errors/recipe-error.ts'

/** The error for a node that stores another number of permits, or none. `stored` is the data of the node if it is not a number. */
export function permitsDiffer(
  path: string,
  permits: number | undefined,
  stored: number | Uint8Array | undefined,
): RecipeError {
  return new RecipeError('PermitsDiffer', path, `${path} ${explainPermits(permits, stored)}`, {
    permits,
    stored: typeof stored === 'number' ? stored : undefined,
  })
}

function explainPermits(permits: number | undefined, stored: number | Uint8Array | undefined): string {
  if (stored === undefined) return 'stores no number of permits: create one Semaphore with { permits }, or call resize'
  if (typeof stored !== 'number')
    return `has ${stored.length} bytes of data, where a number of permits has 4: is it the path of something else?`
  return (
    `has ${stored} permits, and this Semaphore was created with { permits: ${permits} }: create it with ${stored}, ` +
    'create it without permits to follow what is stored, or change what is stored with resize'
  )
}
