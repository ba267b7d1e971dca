/** Why a hold has ended. */
export type LossReason =
  /** the holder released it */
  | 'Released'
  /** the holder downgraded it, and continues as a reader */
  | 'Downgraded'
  /** the lease ended before the hold was confirmed again: from now on another contender may be granted */
  | 'LeaseLost'
  /** the connection was lost, with `heldWhile: 'connected'` */
  | 'Disconnected'
  /** the session expired, and the node was deleted with it */
  | 'SessionExpired'
  /** the client was closed or detached, or its credentials were refused */
  | 'Closed'
  /** the node is gone: another client deleted it, or the session has expired and the client does not know it yet */
  | 'NodeGone'
  /** the ensemble refuses to confirm it: this client has lost its right to read the node. `cause` has the answer */
  | 'Refused'
