import fc from 'fast-check'
import { expect, test } from 'vitest'
import { html, htmlText, relativeUrl } from './html.ts'

const anyText = fc.string({ unit: fc.oneof(fc.constantFrom('<', '>', '"', "'", '&', '&lt;', '<!--', '</script>', ' onload=', '\0', '\u001b', '\ud800'), fc.string({ unit: 'binary', maxLength: 2 })) })

test('whatever a text holds, it closes neither its element nor its attribute, and reads back as it was', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const whole = htmlText(html`<a title="${text}">${text}</a>`)
      const [, attribute, content] = /^<a title="([^"<>']*)">([^"<>']*)<\/a>$/.exec(whole) ?? []
      expect(content).toBeDefined()
      expect(attribute).toBe(content)
      expect(unescaped(content ?? '')).toBe(text.replaceAll(/(?![\t\n\r])\p{Cc}/gu, '\uFFFD'))
    }),
  )
})

/** As a browser reads the five entities that are written. */
function unescaped(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&amp;', '&')
}

test('a part that is HTML already is not escaped again', () => {
  expect(htmlText(html`<p>${html`<b>${'1 < 2'}</b>`}${[html`<i></i>`, html`<u></u>`]}</p>`)).toBe('<p><b>1 &lt; 2</b><i></i>\n<u></u></p>')
})

test('a URL made of any path stays below the page, without query, fragment or scheme', () => {
  const page = new URL('file:///runs/r/report.html')
  fc.assert(
    fc.property(fc.array(fc.string({ unit: fc.oneof(fc.constantFrom('#', '?', '%', ':', '\\', ' ', 'javascript:', '\ud800'), fc.string({ unit: 'binary', maxLength: 1 })) })), (parts) => {
      const names = parts.map((part) => part.replaceAll('/', '')).filter((name) => !/^\.{0,2}$/.test(name))
      const url = new URL(relativeUrl(names.join('/')), page)
      expect([url.protocol, url.search, url.hash, url.host]).toEqual(['file:', '', '', ''])
      const wellFormed = names.map((name) => name.replaceAll(/\p{Surrogate}/gu, '\uFFFD'))
      expect(url.pathname.split('/').slice(3).map(decodeURIComponent).filter((name) => name !== '')).toEqual(wellFormed)
    }),
  )
})

test('a path may lead out of the folder of the page by its own steps up', () => {
  expect(relativeUrl('../runs/a b/x.png')).toBe('./../runs/a%20b/x.png')
  expect(relativeUrl('/attempts//os/')).toBe('./attempts/os')
})
