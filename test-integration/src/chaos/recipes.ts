/** The recipes for which processes contend. Each has its own history. */
export const RECIPES = ['lock', 'shared', 'election'] as const
