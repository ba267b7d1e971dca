/** What the process of a contender reports to the demo. `at` is in ms of the machine's monotonic clock. */
export type Report =
  | { readonly type: 'gained'; readonly at: number; readonly token: string }
  | { readonly type: 'lost'; readonly at: number; readonly token: string; readonly why: string }
  | { readonly type: 'finished'; readonly at: number; readonly token: string }
