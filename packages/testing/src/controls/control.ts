/**
 * Runs a control at the present time, and sends its effects to the clients. `what` is the call as text, for the history.
 */
export type Control = <Result>(what: string, action: () => Result) => Result
