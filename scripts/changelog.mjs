// The changes of all packages, for the package in the working directory: each tarball has them. Links into the repository lead
// nowhere there, so only their texts are left. Runs before a package is packed; git ignores what it writes.

import { readFileSync, writeFileSync } from 'node:fs'

const changes = readFileSync(new URL('../CHANGELOG.md', import.meta.url), 'utf8')
writeFileSync('CHANGELOG.md', changes.replace(/\[([^\]]+)\]\((?!https:)[^)]+\)/g, '$1'))
