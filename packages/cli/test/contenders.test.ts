import { expect, test } from 'vitest'
import { isContenderName } from '../src/locks/contenders.ts'

const UUID = '8aebab58-aa1d-4102-ac66-f420ec8965e4'
const BARE = UUID.replaceAll('-', '')

test.each([
  ['a lock', `_c_${UUID}-lock-0000000007`],
  ['a lock of go-zookeeper', `_c_${BARE}-lock-0000000007`],
  ['a candidate', `_c_${UUID}-latch-0000000000`],
  ['a reader', `_c_${UUID}-__READ__0000000001`],
  ['a writer', `_c_${UUID}-__WRIT__0000000001`],
  ['a counter below 0', `_c_${UUID}-lock--2147483648`],
  ['a permit of ours', `_c_${UUID}-lease-3`],
  ["a permit of Curator's", `_c_${UUID}-lease-0000000003`],
  ["kazoo's lock", `${BARE}__lock__0000000001`],
  ["kazoo's reader", `${BARE}__rlock__0000000001`],
  ["a permit of kazoo's", BARE],
])('isContenderName knows %s', (_, name) => {
  expect(isContenderName(name)).toBe(true)
})

test.each([
  '',
  'locks',
  'leases',
  'lock-0000000001',
  `_c_${UUID}-member-0000000001`,
  UUID,
  `${BARE}__lock__1`,
  `x${BARE}`,
])('isContenderName refuses %j', (name) => {
  expect(isContenderName(name)).toBe(false)
})
