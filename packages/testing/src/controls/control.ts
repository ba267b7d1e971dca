/** Runs a control, such as `kill`, at the current time, and sends its effects to the clients. `what` is the call as text. */
export type Control = <Result>(what: string, action: () => Result) => Result
