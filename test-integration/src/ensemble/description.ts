/** All it takes to attach to a running ensemble from another process; survives JSON and structured clone. */
export interface EnsembleDescription {
  readonly id: string
  /** Where the published client ports are. */
  readonly host: string
  /** The network the nodes talk to each other on. */
  readonly network: string
  /** In ms. A session's timeout is held between 2 and 20 of these. */
  readonly tickTime: number
  readonly nodes: readonly NodeDescription[]
}

export interface NodeDescription {
  /** `myid`, from 1. */
  readonly id: number
  /** The client port, the same for the life of the ensemble. */
  readonly port: number
  /** Where its peers find it, likewise. */
  readonly peerAddress: string
  readonly container: string
}
