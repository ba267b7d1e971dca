// How the public types are written, as docs/api has them (`pnpm check` compares it with the declarations).
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { describe, expect, test } from 'vitest'

const folder = fileURLToPath(new URL('../../docs/api', import.meta.url))
// An `internal` entry is for our own packages.
const names = readdirSync(folder).filter((name) => !name.includes('-internal'))
const reports = names.map((name) => ({ name, declarations: declarationsIn(name) }))

/** Objects that callers fill step by step. A library that only reads them needs no `readonly`. */
const isOptions = (name: string) => name.endsWith('Options') || ['HoldListeners', 'FaultMatch'].includes(name)

describe.each(reports)('$name', ({ declarations }) => {
  test('optional properties accept undefined, also with exactOptionalPropertyTypes', () => {
    expect(nodesOf(declarations, isStrictlyOptional).map((node) => node.getText())).toEqual([])
  })

  test('options are not readonly: they may be filled step by step', () => {
    const options = nodesOf(declarations, ts.isInterfaceDeclaration).filter(({ name }) => isOptions(name.text))
    const isReadonly = (member: ts.TypeElement) =>
      ts.isPropertySignature(member) && member.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ReadonlyKeyword)
    const readonly = options.flatMap(({ name, members }) =>
      members.filter(isReadonly).map((member) => `${name.text}.${member.name?.getText()}`),
    )
    expect(readonly).toEqual([])
  })
})

test.each([
  ['a?: string', 1],
  ['a?: string | undefined', 0],
  ['a?: unknown', 0],
  ['a?(): void', 1],
  ['a: Partial<B>', 1],
  ['a: Partial<Record<B, string | undefined>>', 0],
  ['a: { b?: 1 }', 1],
])('of { %s } the rule finds %i', (member, count) => {
  const source = ts.createSourceFile('a.ts', `interface A { ${member} }`, ts.ScriptTarget.Latest, true)
  expect(nodesOf(source, isStrictlyOptional)).toHaveLength(count)
})

/** Whether it may be left out, but not be undefined. `Partial` does not change types, so its members must accept undefined. */
function isStrictlyOptional(node: ts.Node): node is ts.Node {
  if (ts.isMethodSignature(node)) return node.questionToken !== undefined
  if (ts.isPropertySignature(node) || ts.isPropertyDeclaration(node)) {
    return node.questionToken !== undefined && !takesUndefined(node.type)
  }
  if (!ts.isTypeReferenceNode(node) || node.typeName.getText() !== 'Partial') return false
  return !/\| undefined>+$/.test(node.getText())
}

function takesUndefined(type: ts.TypeNode | undefined): boolean {
  if (type === undefined || ts.isParenthesizedTypeNode(type)) return false
  if (ts.isUnionTypeNode(type)) return type.types.some(takesUndefined)
  return type.kind === ts.SyntaxKind.UndefinedKeyword || type.kind === ts.SyntaxKind.UnknownKeyword
}

function nodesOf<Node extends ts.Node>(root: ts.Node, is: (node: ts.Node) => node is Node): Node[] {
  const found: Node[] = []
  const visit = (node: ts.Node): void => {
    if (is(node)) found.push(node)
    ts.forEachChild(node, visit)
  }
  visit(root)
  return found
}

function declarationsIn(name: string): ts.SourceFile {
  const text = /```ts\n([^]*?)```/.exec(readFileSync(`${folder}/${name}`, 'utf8'))?.[1] ?? ''
  if (text === '') throw new Error(`docs/api/${name} has no declarations`)
  return ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true)
}
