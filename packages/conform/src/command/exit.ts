/** The exit codes of the command. */
export const EXIT = {
  expected: 0,
  differs: 1,
  usage: 2,
  unreachable: 3,
  stopped: 4,
  /** As shells say it after SIGINT. */
  interrupted: 130,
} as const
