import { stripVTControlCharacters } from 'node:util'

/**
 * A text of unknown origin (a guest, a server, a log) as one harmless line: no escape sequences, no control characters, no line breaks,
 * nothing that turns the direction of writing.
 */
export function oneLine(text: string): string {
  return stripVTControlCharacters(text)
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .replace(/[\p{Bidi_Control}\p{Surrogate}]/gu, '')
    .trim()
}

/** What Unicode's annex 11 calls wide or full-width, and a little more: a line cut too early is better than one that wraps. */
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{16fe0}-\u{18dff}\u{1aff0}-\u{1b2ff}\u{1d300}-\u{1d376}\u{1f000}-\u{1faff}\u{20000}-\u{3fffd}\u2329\u232a\u2630-\u2637\u268a-\u268f\u4dc0-\u4dff\p{Emoji_Presentation}]|\ufe0f/u
const invisible = /^[\p{M}\p{Cf}]+$/u
const plain = /^[ -~]*$/

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })

/** Columns that a terminal needs for a line without control characters. */
export function displayWidth(text: string): number {
  if (plain.test(text)) return text.length
  let width = 0
  for (const { segment } of graphemes.segment(text)) width += graphemeWidth(segment)
  return width
}

/** The text, or its beginning with an ellipsis, in at most `width` columns; never half a character. */
export function cut(text: string, width: number): string {
  if (displayWidth(text) <= width) return text
  if (width < 1) return ''
  let kept = ''
  let used = 0
  for (const { segment } of graphemes.segment(text)) {
    used += graphemeWidth(segment)
    if (used > width - 1) break
    kept += segment
  }
  return `${kept}…`
}

function graphemeWidth(grapheme: string): number {
  if (invisible.test(grapheme)) return 0
  return wide.test(grapheme) ? 2 : 1
}
