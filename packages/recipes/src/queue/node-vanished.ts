/** Our node is gone while we waited: somebody deleted it, or we left. */
export class NodeVanished extends Error {}
