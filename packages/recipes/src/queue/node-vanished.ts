/** Our node does not exist any more: another client deleted it, or the contender has left. */
export class NodeVanished extends Error {}
