/** What a contender's process reports to the demo. `at` is machine time in ms. */
export type Report =
  | { readonly type: 'gained'; readonly at: number; readonly token: string }
  | { readonly type: 'lost'; readonly at: number; readonly token: string; readonly why: string }
  | { readonly type: 'finished'; readonly at: number; readonly token: string }
