export interface Element {
  readonly name: string
  readonly attributes: Readonly<Record<string, string>>
  readonly children?: readonly (Element | string)[]
}

/** An XML 1.0 document of one element, indented, in ASCII-safe UTF-8. */
export function xmlDocument(root: Element): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n${write(root, '')}`
}

function write({ name, attributes, children = [] }: Element, margin: string): string {
  const start = `${margin}<${[name, ...Object.entries(attributes).map(([key, value]) => `${key}="${escape(value)}"`)].join(' ')}`
  if (children.length === 0) return `${start}/>\n`
  const [only] = children
  if (children.length === 1 && typeof only === 'string') return `${start}>${escape(only)}</${name}>\n`
  const inner = children.map((child) => (typeof child === 'string' ? `${margin}  ${escape(child)}\n` : write(child, `${margin}  `)))
  return `${start}>\n${inner.join('')}${margin}</${name}>\n`
}

const named: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', '\t': '&#9;', '\n': '&#10;', '\r': '&#13;' }

/** Control characters and lone surrogates have no place in XML 1.0 (section 2.2), not even escaped: they are written as `\u001b`. */
function escape(text: string): string {
  return text
    .replace(/[&<>"\t\n\r]/g, (character) => named[character] ?? character)
    .replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
