interface Cache<Key, Value> {
  get(key: Key): Value | undefined
  set(key: Key, value: Value): unknown
}

/** Returns what the cache has for the key. Makes it if the cache has nothing. */
export function memoized<Key, Value>(cache: Cache<Key, Value>, key: Key, make: (key: Key) => Value): Value {
  const known = cache.get(key)
  if (known !== undefined) return known
  const made = make(key)
  cache.set(key, made)
  return made
}
