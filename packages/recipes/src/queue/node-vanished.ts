/** Our node has vanished during the wait: another client deleted it, or we left. */
export class NodeVanished extends Error {}
