/** What another process needs to use a running ensemble. It survives JSON and structured clone. */
export interface EnsembleDescription {
  readonly id: string
  /** The host of the published client ports. */
  readonly host: string
  /** The network between the nodes. */
  readonly network: string
  /** In ms. A session timeout is between 2 and 20 ticks. */
  readonly tickTime: number
  readonly nodes: readonly NodeDescription[]
}

export interface NodeDescription {
  /** `myid`, from 1. */
  readonly id: number
  /** The client port. It stays the same as long as the ensemble lives. */
  readonly port: number
  /** The address of the node for its peers. It stays the same as long as the ensemble lives. */
  readonly peerAddress: string
  readonly container: string
}
