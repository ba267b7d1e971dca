// Writes the changes of all packages into the package in the working directory, so that each tarball has them. Links into
// the repository do not work there, so only their texts remain. Runs before a package is packed; git ignores the file.

import { readFileSync, writeFileSync } from 'node:fs'

const changes = readFileSync(new URL('../CHANGELOG.md', import.meta.url), 'utf8')
writeFileSync('CHANGELOG.md', changes.replace(/\[([^\]]+)\]\((?!https:)[^)]+\)/g, '$1'))
