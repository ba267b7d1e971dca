/** What another process needs to attach to a running ensemble; survives JSON and structured clone. */
export interface EnsembleDescription {
  readonly id: string
  /** The host of the published client ports. */
  readonly host: string
  /** The network between the nodes. */
  readonly network: string
  /** In ms. Servers limit a session timeout to 2 to 20 of these. */
  readonly tickTime: number
  readonly nodes: readonly NodeDescription[]
}

export interface NodeDescription {
  /** `myid`, from 1. */
  readonly id: number
  /** The client port, the same for the life of the ensemble. */
  readonly port: number
  /** Its address for its peers, the same for the life of the ensemble. */
  readonly peerAddress: string
  readonly container: string
}
