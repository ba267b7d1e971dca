// Writes the man pages of `zk` into packages/cli/dist/man, from the tables of which its help is made.

import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './parts.mjs'

const folder = join(root, 'packages/cli')

export function writeManPages() {
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const { stdout, stderr } = spawnSync(process.execPath, [join(folder, 'dist/main.js'), 'describe'], {
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  })
  if (stdout === '') throw new Error(`zk describe has printed nothing: ${stderr}`)
  const pages = manPages(JSON.parse(stdout), version)
  const man = join(folder, 'dist/man')
  mkdirSync(man, { recursive: true })
  for (const name of readdirSync(man)) if (!pages.has(name)) rmSync(join(man, name))
  for (const [name, text] of pages) writeFileSync(join(man, name), text)
}

/** The pages by the names of their files. */
export function manPages({ summary, notes, options, commands }, version) {
  const names = Object.keys(commands)
  const page = (name, title, about, sections) =>
    [
      `.TH ${name.toUpperCase()} 1 "" ${quoted(`zk ${version}`)} "ZooKeeper"`,
      // Names of variables and options must not be broken.
      '.nh',
      '.ad l',
      '.SH NAME',
      `${escaped(title)} \\- ${escaped(about.replace(/\.$/, ''))}`,
      ...sections,
      '',
    ].join('\n')

  const overview = page('zk', 'zk', summary, [
    '.SH SYNOPSIS',
    synopsis('zk', 'COMMAND [options]'),
    '.SH COMMANDS',
    ...names.flatMap((name) => ['.TP', `.BR zk\\-${escaped(name)} (1)`, escaped(commands[name].summary)]),
    '.SH OPTIONS OF THE CONNECTION',
    ...optionList(options),
    '.PP',
    ...prose(notes),
  ])

  const pages = names.map((name) => {
    const { summary, usage, options, notes, isLocal } = commands[name]
    const [description, example] = notes.split(/^Examples?:\n/m)
    const page_ = page(`zk-${name}`, `zk-${name}`, summary, [
      '.SH SYNOPSIS',
      synopsis(`zk ${name}`, usage),
      '.SH DESCRIPTION',
      escaped(summary),
      ...(description.trim() === '' ? [] : ['.PP', ...prose(description)]),
      ...(options.length === 0 ? [] : ['.SH OPTIONS', ...optionList(options)]),
      ...(isLocal ? [] : ['.PP', `The options of the connection are in`, '.BR zk (1).']),
      ...(example === undefined ? [] : ['.SH EXAMPLES', ...prose(example)]),
      '.SH SEE ALSO',
      '.BR zk (1)',
    ])
    return [`zk-${name}.1`, page_]
  })
  return new Map([['zk.1', overview], ...pages])
}

function synopsis(command, usage) {
  return `.B ${escaped(command)}\n${escaped(usage)}`
}

function optionList(options) {
  return options.flatMap(({ name, short, value, help }) => {
    const flags = [...(short === undefined ? [] : [`-${short}`]), `--${name}`].map((flag) => `\\fB${escaped(flag)}\\fR`)
    return ['.TP', `${flags.join(', ')}${value === undefined ? '' : ` \\fI${escaped(value)}\\fR`}`, escaped(help)]
  })
}

/** Paragraphs. Lines that begin with two spaces stay as they are. */
function prose(text) {
  const parts =
    text.trim() === ''
      ? []
      : text.replace(/^\n+|\s+$/g, '').split(/\n(?=\s*\n)|(?<=^ {2}.*)\n(?! {2})|(?<!^ {2}.*)\n(?= {2})/m)
  return parts.flatMap((part, index) => {
    const lines = part.split('\n').filter((line) => line.trim() !== '')
    if (lines.length === 0) return []
    const isExact = lines[0].startsWith('  ')
    const shown = lines.map((line) => escaped(isExact ? line.slice(2) : line))
    return [...(index === 0 ? [] : ['.PP']), ...(isExact ? ['.nf', '.RS 2', ...shown, '.RE', '.fi'] : shown)]
  })
}

function quoted(text) {
  return `"${escaped(text)}"`
}

/** Text that roff prints as it is: on most systems a plain - would become a hyphen, which cannot be copied. */
function escaped(text) {
  return text
    .replaceAll('…', '...')
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^(?=[.'])/gm, '\\&')
    .replaceAll("'", '\\(aq')
    .replaceAll('`', '\\(ga')
    .replaceAll('^', '\\(ha')
    .replaceAll('~', '\\(ti')
    .replaceAll('"', '\\(dq')
    .replace(/\P{ASCII}/gu, (char) => `\\[u${char.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')}]`)
}
