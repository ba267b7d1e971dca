import { posix } from 'node:path'

/**
 * Makes links of a page into the repository work elsewhere, such as on the page of a package registry. Each relative link becomes a
 * URL. As long as the repository has no address, only the text of the link stays. `folder` is the folder of the page, relative
 * to the root. `beside` is for pages that are published together: it returns the file among them to which a link to `path`
 * leads, or undefined.
 */
export function withoutRelativeLinks(markdown, { address, version, folder, beside = () => undefined }) {
  return markdown
    .split(/(^```[^]*?^```$)/m)
    .map((part) => (part.startsWith('```') ? part : part.replace(CODE_OR_LINK, replaced)))
    .join('')

  function replaced(all, image, text, target) {
    if (target === undefined || /^(#|[a-z]+:)/.test(target)) return all
    const [, path, anchor] = /^([^#]*)(.*)$/.exec(target)
    const file = posix.join(folder, path)
    const found = beside(file)
    if (found !== undefined) return `${image}[${text}](${posix.relative(folder, found)}${anchor})`
    if (address === undefined) return text
    const page = image === '!' ? 'raw' : 'blob'
    return `${image}[${text}](${address}/${page}/v${version}/${file}${anchor})`
  }
}

const CODE_OR_LINK = /`[^`\n]*`|(!?)\[((?:`[^`\n]*`|[^\]`])*)\]\(([^)\s]+)\)/g
