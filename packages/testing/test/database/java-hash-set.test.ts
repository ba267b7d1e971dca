// What Java 17 printed for the same sets.
import { expect, test } from 'vitest'
import { hashCode, JavaHashSet } from '../../src/database/java-hash-set.ts'

const numbers = Array.from({ length: 8 }, (_, i) => `n-${String(i * 37).padStart(10, '0')}`)
const words = ['banana', 'apple', 'cherry', 'Aa', 'BB', 'AaAa', 'BBBB', 'AaBB', 'x', 'y', 'z', 'w', 'v']

test('JavaHashSet lists its names as HashSet walks them', () => {
  const set = new JavaHashSet(8)
  for (const name of numbers) set.add(name)
  expect(set.inOrder().map((name) => Number(name.slice(2)))).toEqual([185, 74, 0, 222, 111, 37, 259, 148])
})

test('JavaHashSet keeps names with equal hash codes in the order they came, also when it grows', () => {
  const set = new JavaHashSet(8)
  for (const name of [...numbers, ...words]) set.add(name)
  const listed = set.inOrder().filter((name) => words.includes(name))
  expect(listed.join(' ')).toBe('banana Aa BB cherry apple v w x y z AaAa BBBB AaBB')
})

test('JavaHashSet does not shrink, but a clone of it is small', () => {
  const set = new JavaHashSet(8)
  const many = Array.from({ length: 40 }, (_, i) => `n-${String(i * 37).padStart(10, '0')}`)
  for (const name of many) set.add(name)
  for (const name of many.slice(4)) set.delete(name)
  const clone = set.clone()
  const listed = (set: JavaHashSet) => set.inOrder().map((name) => Number(name.slice(2)))
  expect(listed(set)).toEqual([111, 37, 0, 74])
  expect(listed(clone)).toEqual([111, 37, 74, 0])
  clone.delete('n-0000000000')
  expect([set.size, clone.size]).toEqual([4, 3])
})

test('JavaHashSet has a copy in the same order that is its own', () => {
  const set = new JavaHashSet(8)
  for (const name of words) set.add(name)
  const copy = set.copy()
  expect(copy.inOrder()).toEqual(set.inOrder())
  copy.add('another')
  expect(set.has('another')).toBe(false)
})

test('hashCode is that of String', () => {
  expect(hashCode('lock-0000000042')).toBe(-864_326_560)
  expect(hashCode('é漢')).toBe(35_673)
  expect(hashCode('')).toBe(0)
})
