// A page of the guide as a test sees it: sections with files, and commands to run where these are.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export interface Section {
  readonly title: string
  readonly files: readonly { readonly name: string; readonly text: string }[]
  readonly commands: readonly Command[]
}

interface Command {
  readonly line: string
  /** The requirement that a comment at its end states: `# Node 24.9 or newer`. */
  readonly needs: { readonly what: string; readonly version: number } | undefined
}

/**
 * A block belongs to the file whose name, with a colon, ends the paragraph before it; one of `sh` has commands. "`a.js` as above"
 * stands for the file of an earlier section.
 */
export function sectionsOf(path: string): Section[] {
  const page = readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8')
  const sections: Section[] = []
  for (const text of page.split(/^## /m).slice(1)) {
    const blocks = [...text.matchAll(/([^\n]*)\n\n```(\w+)\n([^]*?)```/g)].map(
      ([, before = '', language, body = '']) => ({
        name: language === 'sh' ? undefined : nameIn(before),
        text: body,
      }),
    )
    const earlier = sections.flatMap(({ files }) => files)
    const again = [...text.matchAll(/`([\w.]+)`\s+as\s+above/g)].map(([, name]) => {
      const file = earlier.findLast((each) => each.name === name)
      if (file === undefined) throw new Error(`no section above has ${name}`)
      return file
    })
    sections.push({
      title: text.slice(0, text.indexOf('\n')),
      files: [...again, ...blocks.flatMap(({ name, text }) => (name === undefined ? [] : [{ name, text }]))],
      commands: blocks.filter(({ name }) => name === undefined).flatMap(({ text }) => commandsIn(text)),
    })
  }
  return sections
}

function nameIn(line: string): string {
  const name = /`([\w.]+)`:$/.exec(line)?.[1]
  if (name === undefined) throw new Error(`the line before a block names no file: ${line}`)
  return name
}

function commandsIn(block: string): Command[] {
  return block
    .trim()
    .split('\n')
    .map((line) => {
      const [command = '', needed] = line.split(/\s+# /)
      const parsed = /^(\w+) ([\d.]+) or newer$/.exec(needed ?? '')
      if (needed !== undefined && parsed === null) throw new Error(`not understood: # ${needed}`)
      return { line: command, needs: parsed === null ? undefined : { what: parsed[1]!, version: Number(parsed[2]) } }
    })
}
