// `zk completion`: scripts for shells. They ask the hidden command `zk complete` at each key, so they fit any version.
import type { Command } from '../command/command.ts'
import { EXIT } from '../command/exit.ts'
import { UsageError } from '../command/options.ts'
import { print } from '../command/output.ts'

// The first line that `zk complete` prints is the kind of the completion, and each other line a candidate.
const SCRIPTS: Readonly<Record<string, string>> = {
  bash: `# zk: completions for bash
_zk() {
  local kind='' line
  COMPREPLY=()
  while IFS= read -r line; do
    if [ -z "$kind" ]; then kind=$line; else COMPREPLY+=("$line"); fi
  done < <(zk complete bash "\${COMP_LINE:0:COMP_POINT}" "$COMP_WORDBREAKS" 2>/dev/null)
  case $kind in
    prefixes) compopt -o nospace 2>/dev/null ;;
    files) compopt -o default 2>/dev/null ;;
    programs) while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -c -- "\${COMP_WORDS[COMP_CWORD]}") ;;
  esac
}
complete -F _zk zk
`,
  zsh: `#compdef zk
# zk: completions for zsh
_zk() {
  local -a lines
  lines=("\${(@f)$(zk complete zsh "\${(@Q)words[2,CURRENT-1]}" "\${(Q)PREFIX}" 2>/dev/null)}")
  case $lines[1] in
    words|prefixes)
      local -a texts shown
      local line
      for line in "\${(@)lines[2,-1]}"; do
        texts+=("\${line%%$'\\t'*}")
        shown+=("\${line/$'\\t'/  -- }")
      done
      if [[ $lines[1] = prefixes ]]; then compadd -S '' -a texts; else compadd -l -d shown -a texts; fi ;;
    files) compset -P '--*='; _files ;;
    programs) _command_names -e ;;
  esac
}
if [ "$funcstack[1]" = _zk ]; then _zk "$@"; else compdef _zk zk; fi
`,
  fish: `# zk: completions for fish
function __zk_complete
  set -l current (commandline -ct)
  set -l lines (zk complete fish (commandline -opc)[2..] (string unescape -- $current; or string unescape -- $current\\'; or string unescape -- $current\\") 2>/dev/null)
  switch "$lines[1]"
    case words prefixes
      printf '%s\\n' $lines[2..]
    case files
      __fish_complete_path $current
    case programs
      __fish_complete_command
  end
end
complete -c zk -f -a '(__zk_complete)'
`,
}

const SHELLS = Object.keys(SCRIPTS).join('|')

export const COMPLETION: Command = {
  usage: `${SHELLS} [options]`,
  options: [],
  isLocal: true,
  notes: `The script completes commands, options, values, profiles and paths. For paths it asks the servers that the line, the environment or the
profile names, for a second at most.

Example:
  eval "$(zk completion bash)"                                 # in ~/.bashrc
  zk completion zsh > /usr/local/share/zsh/site-functions/_zk
  zk completion fish > ~/.config/fish/completions/zk.fish
`,
  run: async ({ words: [shell = '', ...more] }) => {
    const script = Object.hasOwn(SCRIPTS, shell) ? SCRIPTS[shell] : undefined
    if (script === undefined || more.length > 0) throw new UsageError(`name the shell: zk completion ${SHELLS}`)
    print(script)
    return EXIT.done
  },
}
