// What `conform --help` prints, and the errors that lead to exit code 2.

export const USAGE = `Says where a server, or a client, differs from the ZooKeeper protocol.

Usage:
  conform HOST:PORT[,HOST:PORT…][/NODE] [options]    judge a server, or the servers of an ensemble
  conform run ID… HOST:PORT [options]                play only these clauses, such as watches/12
  conform HOST:PORT --fuzz N [options]               play N random programs instead, and compare every frame
  conform client [options] -- COMMAND {connect}      judge the client in a program; {connect} is replaced by addresses
  conform list [CHAPTER | situations]                list the clauses, or what happens to a client
  conform explain ID                                 print a clause with its source
  conform compare FILE… --html FILE                  make one page from several results of --json

Everything is created below one node of its own (in /NODE, if you name one), and deleted afterwards.

What is played:
  --profile LIST       core, full, extended, or several of them, with commas (default: all)
  --as RELEASE         compare with 3.5, 3.6, 3.7, 3.8 or 3.9 (default: the one the server resembles most)
  --super USER:PASS    a superuser, for clauses that need one
  --sasl USER:PASS     a user of SASL DIGEST-MD5, for clauses that need one
  --reconfig           also change the configuration of an ensemble (the servers stay the same)
  --hostile            also send frames that may stop the server or make it unusable
  --read-only          the servers have readonlymode.enabled and localSessionsEnabled: judge their read-only mode
  --kill 'COMMAND {n}' --start 'COMMAND {n}' --pause 'COMMAND {n}' --resume 'COMMAND {n}'
                       how to stop, start, freeze and thaw server n; enables failover
  --timeout SECONDS    the longest time for a check, or a random program (default: 30)

Random programs:
  --fuzz N             how many; a program that shows a new difference is shortened
  --seed S             the seed of the first program; the next one has S + 1 (default: a random one)
  --oracle HOST:PORT   compare with this server (default: our own, as the release of --as)
  --only LIST          only these requests of one program: part of the command that is printed with a difference
  --as, --super, --hostile, --timeout, and the reports, as above and below

A client (its servers, and what happens to it, are made by conform; the program is started once for each situation):
  --adapter            the program does what lines of JSON ask it: more situations, and what it does is known
  --situations LIST    only these, with commas (default: all; see conform list situations)
  --for SECONDS        the longest time of a situation (default: 60)

Reports, besides the text on standard output:
  --json FILE, --junit FILE, --markdown FILE, --html FILE    (- for standard output, instead of the text)
  --baseline FILE      known differences, with reasons; any other difference fails, and so does
                       an entry that no longer differs
  --write-baseline FILE
  --no-color           (or NO_COLOR, or no terminal)

Exit codes: 0 as expected, 1 differences, 2 wrong usage, 3 the server cannot be reached (or the
client does not connect), 4 it was stopped (or the program ended).
`

/** Wrong usage. The message says what is wrong and what would be right. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
