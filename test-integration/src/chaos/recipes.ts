/** The recipes that are contended for; each has its own history. */
export const RECIPES = ['lock', 'shared', 'election'] as const
