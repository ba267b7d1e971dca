/** What is contended for; each has a history of its own. */
export const RECIPES = ['lock', 'shared', 'election'] as const
