// Addresses, anchors and navigation of the site, as far as they differ from what TypeDoc does by itself.
import { DefaultTheme, JSX, Slugger, StructureRouter } from 'typedoc'
import { addressOf } from './pages.mjs'

/**
 * Teaches TypeDoc the layout of the site. `sections` have the pages of the repository: each is a document whose front matter
 * has its `path`, but README.md is the first page.
 */
export function useLayout(app, sections) {
  const order = sections.flatMap(({ pages }) => pages)

  app.renderer.defineRouter('site', SiteRouter)
  app.renderer.defineTheme(
    'site',
    class extends DefaultTheme {
      /** The sections with their modules and pages. */
      buildNavigation(project) {
        const elements = super.buildNavigation(project).flatMap(({ children }) => children)
        const modules = new Map(elements.map((element) => [element.text, element]))
        const pages = new Map(elements.map((element) => [element.path, element]))
        pages.set('index.html', { text: 'Overview', path: 'index.html' })
        return sections.map((section) => ({
          text: section.title,
          children: [
            ...section.modules.map((name) => modules.get(name)),
            ...section.pages.map((path) => pages.get(`${addressOf(path)}.html`)),
          ],
        }))
      }
    },
  )
  app.options.setValue('router', 'site')
  app.options.setValue('theme', 'site')
  app.options.setValue('markdownItOptions', { html: true })
  app.options.setValue('markdownItLoader', readMarkdown)
  app.renderer.hooks.on('content.end', (context) => {
    const { model } = context.page
    const path = model.isProject() ? 'README.md' : model.isDocument() ? model.frontmatter.path : undefined
    if (path === undefined) return JSX.createElement(JSX.Fragment, null)
    const at = order.indexOf(path)
    return JSX.createElement(
      'nav',
      { class: 'zk-neighbours' },
      link(order[at - 1], 'prev'),
      link(order[at + 1], 'next'),
    )

    function link(neighbour, rel) {
      if (neighbour === undefined) return JSX.createElement('span', null)
      const { project } = context.page
      const page = project.documents.find(({ frontmatter }) => frontmatter.path === neighbour)
      return JSX.createElement('a', { href: context.urlTo(page ?? project), rel }, page?.name ?? 'Overview')
    }
  })
}

/** `guide/errors.html` for a page, `api/recipes.html` for a module, and `api/recipes/Lock.html` for what it exports. */
class SiteRouter extends StructureRouter {
  getIdealBaseName(reflection) {
    if (reflection.isDocument()) return addressOf(reflection.frontmatter.path)
    return super.getIdealBaseName(reflection).replace(/^[^/]*/, 'api')
  }

  buildPages(project) {
    const pages = super.buildPages(project)
    // The page of all modules: the navigation lists them.
    const [, modules] = pages
    this.fullUrls.set(project, 'index.html')
    this.sluggers.set(project, new PageSlugger(this.sluggerConfiguration))
    return pages.filter((page) => page !== modules)
  }

  buildChildPages(target, pages) {
    super.buildChildPages(target, pages)
    if (target.isDocument()) this.sluggers.set(target, new PageSlugger(this.sluggerConfiguration))
  }
}

/** Anchors as GitHub makes them, where the pages are read, too. */
class PageSlugger extends Slugger {
  serialize(heading) {
    return heading
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .trim()
      .replaceAll(' ', '-')
  }
}

/**
 * TypeDoc's anchors lack code that is in a heading. It takes blocks of no language for TypeScript, but not the indented code of
 * doc comments, which is.
 */
function readMarkdown(parser) {
  parser.core.ruler.push('zk', ({ tokens, Token }) => {
    for (const [index, token] of tokens.entries()) {
      if (token.type === 'fence' && token.info === '') token.info = 'text'
      if (token.type === 'code_block') Object.assign(token, { type: 'fence', info: 'ts' })
      if (tokens[index - 1]?.type !== 'heading_open') continue
      token.children = token.children.flatMap((child) =>
        child.type === 'code_inline' ? [html('<code>'), text(child.content), html('</code>')] : [child],
      )
    }

    function html(content) {
      return Object.assign(new Token('html_inline', '', 0), { content })
    }

    function text(content) {
      return Object.assign(new Token('text', '', 0), { content })
    }
  })
}
