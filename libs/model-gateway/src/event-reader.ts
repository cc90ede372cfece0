/** One event of a server-sent stream: its bytes as they came, blank line included, and its data. */
export interface ServerEvent {
  readonly raw: Buffer
  readonly data: string
}

const blankLine = /\r\n\r\n|\n\n|\r\r/
/** A blank line is cut by at most so many characters. */
const overlap = 3

/** Splits a byte stream into server-sent events, wherever its pieces are cut (WHATWG HTML, section 9.2). */
export class EventReader {
  /** One character a byte, so that no piece can cut a character. */
  #held: string[] = []
  #tail = ''

  push(piece: Buffer): ServerEvent[] {
    const text = piece.toString('latin1')
    const holdsEnd = blankLine.test(this.#tail + text)
    this.#held.push(text)
    this.#tail = (this.#tail + text).slice(-overlap)
    return holdsEnd ? this.#takeEvents() : []
  }

  /** What came after the last whole event. */
  rest(): ServerEvent | undefined {
    const raw = this.#held.join('')
    this.#held = []
    return raw === '' ? undefined : eventOf(raw)
  }

  #takeEvents(): ServerEvent[] {
    const events: ServerEvent[] = []
    let text = this.#held.join('')
    for (let match = blankLine.exec(text); match !== null; match = blankLine.exec(text)) {
      const end = match.index + match[0].length
      events.push(eventOf(text.slice(0, end)))
      text = text.slice(end)
    }
    this.#held = [text]
    this.#tail = text.slice(-overlap)
    return events
  }
}

function eventOf(text: string): ServerEvent {
  const raw = Buffer.from(text, 'latin1')
  const lines = raw.toString('utf8').split(/\r\n|\n|\r/)
  const data = lines.filter((line) => line.startsWith('data:')).map((line) => line.slice('data:'.length).replace(/^ /, ''))
  return { raw, data: data.join('\n') }
}
