/** Text that is HTML already. Only this file makes it, so that nothing reaches a page unescaped. */
export interface Html {
  readonly [markup]: string
}

const markup: unique symbol = Symbol('markup')

type Part = Html | readonly Html[] | string | number

/** HTML of a template: its parts are escaped for text and for attributes in double quotes, unless they are HTML already. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return { [markup]: String.raw({ raw: strings }, ...parts.map(partText)) }
}

export const nothing = html``

/** A style element around CSS of our own, which has no escape for `<`; never for anything that was read. */
export function styleElement(css: string): Html {
  return { [markup]: `<style>${css}</style>` }
}

export function htmlText(whole: Html): string {
  return whole[markup]
}

/** A relative URL of a path whose names may hold any sign; never one with a scheme or a host. */
export function relativeUrl(path: string): string {
  const names = wellFormed(path).split('/').filter((name) => name !== '' && name !== '.')
  return ['.', ...names.map(encodeURIComponent)].join('/')
}

function partText(part: Part): string {
  if (typeof part === 'string' || typeof part === 'number') return escapeHtml(String(part))
  return 'map' in part ? part.map(htmlText).join('\n') : htmlText(part)
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

/** Control signs but tab and line ends have no place in HTML; each is shown as the sign for what cannot be shown. */
const controls = /(?![\t\n\r])\p{Cc}/gu

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (sign) => entities[sign] ?? sign).replaceAll(controls, '\uFFFD')
}

/** Half of a surrogate pair has no UTF-8 and would be refused in a URL; the file system replaces it too. */
function wellFormed(text: string): string {
  return text.replaceAll(/\p{Surrogate}/gu, '\uFFFD')
}
