/** Our node is gone while we waited: another client deleted it, or we left. */
export class NodeVanished extends Error {}
