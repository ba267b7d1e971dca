/** Stands for every folder that no floor names. */
export const OTHERS = '…'

/**
 * The folders in the sources of a package, from the ground up: each list is a floor. A file imports only from its own folder and
 * from lower floors. Files that are in no folder, such as `index.ts`, are the roof: they import everything, and no file in a
 * folder imports them. A package that is not listed has no order.
 */
export const floors: Readonly<Record<string, readonly (readonly string[])[]>> = {
  'packages/client/src': [
    ['base'],
    ['runtime', 'sasl'],
    ['operations'],
    ['session'],
    ['telemetry'],
    ['zookeeper'],
    ['helpers'],
  ],
  'packages/recipes/src': [
    ['errors'],
    ['kernel'],
    ['lease'],
    ['queue'],
    ['held'],
    [OTHERS],
    ['discovery', 'double-barrier', 'once'],
  ],
}
