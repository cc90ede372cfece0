import { expect, test } from 'vitest'
import { css } from './style.ts'

const [light = '', dark = ''] = [...css.matchAll(/:root \{([^}]*)\}/g)].map(([, body = '']) => body)
const texts = ['ink', 'soft', 'good', 'bad', 'warn', 'link']
const grounds = ['page', 'card', 'head']

test.each([
  ['light', light],
  ['dark', dark],
])('every colour of text on every ground of the %s scheme has a contrast of at least 4.5 (WCAG AA)', (_, body) => {
  const colours = new Map([...body.matchAll(/--([a-z-]+): (#[0-9a-f]{6})/g)].map(([, name = '', colour = '']) => [name, luminance(colour)]))
  for (const text of texts) {
    for (const ground of grounds) {
      const [low = 0, high = 0] = [colours.get(text) ?? NaN, colours.get(ground) ?? NaN].sort((a, b) => a - b)
      expect((high + 0.05) / (low + 0.05), `${text} on ${ground}`).toBeGreaterThanOrEqual(4.5)
    }
  }
})

/** Relative luminance of `#rrggbb`, by the definition in WCAG 2. */
function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = parseInt(colour.slice(at, at + 2), 16) / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
