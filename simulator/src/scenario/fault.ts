// Faults as data. Clients and members are given by their index. A fault with `for` heals after so many ms.

type Ending = 'end' | 'reset' | 'halfOpen' | 'open'

/** The n-th request of the kind, counted from when the fault strikes; with `event` the n-th event of a watch. */
interface Frame {
  readonly op: FaultyOp
  readonly client: ClientTarget | 'any'
  readonly nth: number
}

export type Way = 'up' | 'down' | 'both'

export type Fault =
  // --- the network of a client
  /** Both ends of its connection are reset, and what is under way is lost. */
  | { readonly type: 'reset'; readonly client: ClientTarget }
  /** On its connection everything is lost from now on, in one direction or both. Neither end notices. */
  | { readonly type: 'halfOpen'; readonly client: ClientTarget; readonly way: Way }
  /** Everything between it and a member waits, in one direction or both. New connections wait, too. */
  | {
      readonly type: 'hold'
      readonly client: ClientTarget
      readonly member: number
      readonly way: Way
      readonly for: number
    }
  /** The same for all members. */
  | { readonly type: 'cutOff'; readonly client: ClientTarget; readonly way: Way; readonly for: number }
  /** Its segments take longer, one way. */
  | { readonly type: 'slow'; readonly client: ClientTarget; readonly latency: number; readonly for: number }
  // --- the names that a client looks up
  /** All its look-ups fail. */
  | { readonly type: 'failLookUp'; readonly client: ClientTarget; readonly for: number }
  /** They take longer, up to longer than the client waits. */
  | { readonly type: 'slowLookUp'; readonly client: ClientTarget; readonly by: number; readonly for: number }
  /** One name has other addresses: those of other members, or of no server, or none at all. */
  | {
      readonly type: 'misdirect'
      readonly client: ClientTarget
      /** The n-th name of the connect string, modulo how many there are. */
      readonly name: number
      readonly to: readonly AddressTarget[]
      readonly for: number
    }
  // --- the lists of servers
  /** The configuration of the ensemble lists these servers from now on. */
  | { readonly type: 'misconfigure'; readonly servers: readonly ListedServer[] }
  /** The program of a client replaces its list by this one. */
  | { readonly type: 'relist'; readonly client: ClientTarget; readonly servers: readonly AddressTarget[] }
  // --- the process of a client
  | { readonly type: 'stall'; readonly client: ClientTarget; readonly for: number }
  | { readonly type: 'wallJump'; readonly client: ClientTarget; readonly by: number }
  /** Its machine closes its connections, or is gone as well. */
  | { readonly type: 'killClient'; readonly client: ClientTarget; readonly how: 'process' | 'machine' }
  // --- a member, given by an index, or the leader
  | { readonly type: 'crash'; readonly member: MemberTarget; readonly for: number }
  | { readonly type: 'freeze'; readonly member: MemberTarget; readonly for: number }
  /** It applies commits later. */
  | { readonly type: 'lag'; readonly member: number; readonly by: number; readonly for: number }
  | { readonly type: 'refuse'; readonly member: number; readonly for: number }
  // --- between members
  /** A follower is cut off from the leader, and goes on answering its clients (L31). */
  | { readonly type: 'cutFollower'; readonly nth: number; readonly for: number }
  /** The leader is left with a minority, and goes on answering its clients (L32). */
  | { readonly type: 'isolateLeader'; readonly for: number }
  /** Between the leader and the follower of a client nothing arrives in one direction. The other direction works. */
  | {
      readonly type: 'stallLink'
      readonly client: ClientTarget
      readonly way: 'toFollower' | 'toLeader'
      readonly for: number
    }
  /**
   * On the same link nothing arrives at the follower. Later, when the leader has committed something for that client, nothing
   * arrives at the leader. A moment later nothing arrives in either direction.
   */
  | {
      readonly type: 'turnLink'
      readonly client: ClientTarget
      readonly turnsAfter: number
      readonly thenOpen: number
      readonly for: number
    }
  /** The next touch at the follower of a client is never relayed. */
  | { readonly type: 'loseTouch'; readonly client: ClientTarget }
  // --- the session of a client
  | { readonly type: 'expire'; readonly client: ClientTarget }
  /** It is resumed at that member: its own connection is closed, or gets SessionMoved. */
  | { readonly type: 'move'; readonly client: ClientTarget; readonly member: number }
  /** When the client resumes its session, a server answers with another one. */
  | { readonly type: 'replaceSession'; readonly client: ClientTarget; readonly for: number }
  // --- single requests; of one client, or of any
  /**
   * The request is not executed. Its connection is closed, reset, half-open from then on, or stays: then no answer ever
   * comes.
   */
  | (Frame & { readonly type: 'loseRequest'; readonly connection: Ending })
  /** The request is executed. */
  | (Frame & { readonly type: 'loseReply'; readonly connection: Ending })
  /** The request is executed and answered, and the connection is lost right after the reply. */
  | (Frame & { readonly type: 'drop'; readonly connection: Exclude<Ending, 'open'> })
  | (Frame & { readonly type: 'delayRequest'; readonly ms: number })
  | (Frame & { readonly type: 'delayReply'; readonly ms: number })
  /** The request is not executed, and is answered with `ThrottledOp`. */
  | (Frame & { readonly type: 'throttle' })
  /** The request is executed, and bytes that are no reply come in place of the reply. */
  | (Frame & { readonly type: 'garbage' })
  // --- a server that breaks the protocol, or is of a later release
  /** The request is not executed, and is answered with a code that is not assigned. */
  | (Frame & { readonly type: 'unknownError'; readonly code: number })
  /** An event of a type that is not assigned. */
  | { readonly type: 'unknownEvent'; readonly client: ClientTarget }
  /** The next frame has an impossible length, is too long, has a wrong xid, or is cut off. */
  | {
      readonly type: 'mangle'
      readonly client: ClientTarget
      readonly how: 'length' | 'long' | 'xid' | 'cut'
      readonly keep: number
    }
  // --- an operator
  /** Deletes the node of a contender: the n-th oldest, modulo how many there are. */
  | { readonly type: 'deleteNode'; readonly nth: number }
  /** Deletes all contenders and the node above them. */
  | { readonly type: 'deleteParent' }
  /** Changes the node that clients watch. */
  | { readonly type: 'touch' }
  /** The counter of the node above the contenders goes on from here. */
  | { readonly type: 'presetCounter'; readonly to: number }

export type MemberTarget = number | 'leader'
/** An index, or the client with the latest grant that holds; the first one when none holds. */
export type ClientTarget = number | 'holder'
/** The index of a member; or a machine that refuses connections, or one that does not answer. */
export type AddressTarget = number | 'closed' | 'silent'
/** Also a member with a port at which nothing listens, or with no port for clients. */
export type ListedServer = AddressTarget | 'wrongPort' | 'noPort'
export type FaultType = Fault['type']
export type FaultOf<Type extends FaultType> = Extract<Fault, { type: Type }>

/** The requests of recipes. `create` stands for all its variants. */
export const faultyOps = [
  'create',
  'getChildren',
  'getData',
  'multi',
  'delete',
  'sync',
  'exists',
  'removeWatches',
  'setWatches',
  'connect',
] as const

/** The requests of plain calls. */
export const callFaultyOps = [...faultyOps, 'setData', 'addWatch'] as const
export type FaultyOp = (typeof callFaultyOps)[number] | 'sasl' | 'event'
