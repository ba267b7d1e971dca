/**
 * The address of the repository, such as `https://github.com/owner/name`. It is not decided yet, and without it nothing can be
 * published. What is published has it from here: `repository`, `homepage` and `bugs` in package.json, and links to the guides.
 *
 * @type {string | undefined}
 */
export const ADDRESS = undefined

export const NO_ADDRESS =
  'The repository has no address yet, so nothing can be published: packages must name the repository that they were built from. ' +
  'Set ADDRESS in scripts/release/address.mjs.'
