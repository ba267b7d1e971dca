/**
 * Whether a test that sweeps many cases which differ little plays all of them. The test command plays a part, spread evenly:
 * `ZK_SWEEPS=all` (`pnpm nightly sweeps`) plays the whole.
 */
export const isWholeSweep = process.env['ZK_SWEEPS'] === 'all'
