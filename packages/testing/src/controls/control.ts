/**
 * Does what a control says at the present time, and has what follows from it reach the clients. `what` is for the
 * history, like the call.
 */
export type Control = <Result>(what: string, action: () => Result) => Result
