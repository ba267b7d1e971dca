// What the site shows, in the order in which a new user needs it. Pages stay where they are in the repository.

/**
 * An entry is a page, or a folder with a slash at its end, for all of its pages that no other entry names. Modules of the public API
 * come before pages.
 */
const sections = [
  {
    title: 'Start',
    entries: ['README.md', 'docs/guide/api.md', 'packages/client/README.md', 'docs/guide/production.md'],
  },
  { title: 'Recipes', entries: ['packages/recipes/README.md', 'docs/recipes.md', 'docs/guide/cron.md'] },
  {
    title: 'Guarantees',
    entries: ['docs/guarantees.md', 'docs/lease.md', 'docs/cost.md', 'docs/versions.md'],
  },
  {
    title: 'Guides',
    entries: [
      'docs/guide/connection-states.md',
      'docs/guide/errors.md',
      'packages/cli/README.md',
      'docs/guide/operators.md',
      'docs/guide/kubernetes.md',
      'docs/guide/nestjs.md',
      'docs/guide/deno.md',
      'docs/guide/commonjs.md',
      'packages/opentelemetry/README.md',
      'docs/guide/prometheus.md',
      'docs/guide/',
    ],
  },
  {
    title: 'Migration',
    entries: ['docs/guide/migrating.md', 'docs/guide/from-other-locks.md', 'docs/guide/comparison.md'],
  },
  { title: 'Testing', entries: ['docs/guide/testing.md', 'packages/testing/README.md'] },
  { title: 'Protocol', entries: ['packages/conform/README.md', 'docs/protocol/index.md', 'docs/protocol/'] },
  {
    title: 'Reference',
    modules: [
      '@zk/recipes',
      '@zk/client',
      '@zk/opentelemetry',
      '@zk/testing',
      '@zk/wire',
      '@zk/wire/server',
      '@zk/client/internal',
    ],
    entries: ['packages/wire/README.md', 'packages/', 'docs/glossary.md', 'CHANGELOG.md'],
  },
  {
    title: 'Internals',
    entries: [
      'ARCHITECTURE.md',
      'CONTRIBUTING.md',
      'SECURITY.md',
      'docs/touches.md',
      'docs/faults.md',
      'docs/',
      'spec/',
      'simulator/',
      'bench/',
    ],
  },
  { title: 'Decisions', entries: ['docs/decisions/'] },
]

/** Reports of the API for reviews, and notes beside data of tests. */
const LEFT_OUT = [/^docs\/api\//, /\/test\//]

/**
 * The sections with their pages, which are taken from these documents of the repository. Throws if an entry names no
 * document, or if a document belongs to no section.
 */
export function sectionsOf(documents) {
  const named = new Set(sections.flatMap(({ entries }) => entries))
  const left = new Set(documents.filter((path) => !LEFT_OUT.some((pattern) => pattern.test(path))))
  const filled = sections.map(({ title, modules = [], entries }) => ({ title, modules, pages: entries.flatMap(take) }))
  if (left.size > 0) throw new Error(`site/pages.mjs: no section has ${[...left].join(', ')}`)
  return filled

  function take(entry) {
    const pages = entry.endsWith('/')
      ? [...left]
          .filter((path) => ownerOf(path) === entry && !named.has(path))
          .toSorted((one, other) => (one < other ? -1 : 1))
      : [...left].filter((path) => path === entry)
    if (pages.length === 0 && !entry.endsWith('/')) throw new Error(`site/pages.mjs: there is no ${entry}`)
    for (const page of pages) left.delete(page)
    return pages
  }

  /** The innermost folder above a page that is an entry. */
  function ownerOf(path) {
    const parts = path.split('/')
    const folders = parts.slice(1).map((_, index) => `${parts.slice(0, parts.length - 1 - index).join('/')}/`)
    return folders.find((folder) => named.has(folder))
  }
}

/** The address of a page on the site, without its extension: `docs/guide/errors.md` is at `guide/errors`. */
export function addressOf(path) {
  if (path === 'README.md') return 'index'
  return path
    .replace(/^docs\//, '')
    .replace(/(\/README)?\.md$/, '')
    .toLowerCase()
}
