import { expect, test } from 'vitest'
import { drawScreen } from './screenshot.ts'

const ESC = '\u001B['
const textsOf = (svg: string) =>
  Array.from(
    svg.matchAll(/<text x="([\d.]+)" y="(\d+)" textLength="([\d.]+)"[^>]*?(?: class="([^"]*)")?>([^<]*)</g),
    (match) => match.slice(1),
  )

test('drawScreen draws each word group at its column', () => {
  expect(textsOf(drawScreen({ title: 'two columns', text: 'one two   3\n\n  4\n' }))).toEqual([
    ['16', '29', '54.6', undefined, 'one two'],
    ['94', '29', '7.8', undefined, '3'],
    ['31.6', '65', '7.8', undefined, '4'],
  ])
})

test('drawScreen gives a text its colours, also across lines', () => {
  const text = `a${ESC}1;31mb${ESC}22mc\nd${ESC}0me${ESC}92mf${ESC}39mg${ESC}2mh${ESC}m`
  expect(textsOf(drawScreen({ title: 'colours', text })).map(([, , , classes, part]) => [part, classes])).toEqual([
    ['a', undefined],
    ['b', 'bold red'],
    ['c', 'red'],
    ['d', 'red'],
    ['e', undefined],
    ['f', 'green'],
    ['g', undefined],
    ['h', 'dim'],
  ])
})

test('drawScreen wraps lines at the width of the terminal', () => {
  const svg = drawScreen({ title: 'a long line', text: 'abcdefgh', columns: 3 })
  expect(textsOf(svg).map(([x, y, , , part]) => [x, y, part])).toEqual([
    ['16', '29', 'abc'],
    ['16', '47', 'def'],
    ['16', '65', 'gh'],
  ])
  expect(svg).toContain('viewBox="0 0 55.4 86"')
})

test('drawScreen has a title and the plain text for screen readers', () => {
  const svg = drawScreen({ title: 'A & B', text: `${ESC}31m<a>${ESC}0m\nb` })
  expect(svg).toContain('<title id="title">A &amp; B</title>')
  expect(svg).toContain('<desc id="text">&lt;a&gt;\nb</desc>')
})

test.each([`${ESC}2K`, `${ESC}38;5;1m`, 'a\tb', 'a\rb'])('drawScreen refuses what it does not draw: %j', (text) => {
  expect(() => drawScreen({ title: 'unknown', text })).toThrow('a screenshot has no')
})
