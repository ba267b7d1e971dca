/** Node's name for the method that `util.inspect` and `console.log` call; Deno and Bun know it too. */
export const inspected = Symbol.for('nodejs.util.inspect.custom')
