/** Does what a control says at the present time, and has what follows from it reach the clients. */
export type Control = <Result>(action: () => Result) => Result
