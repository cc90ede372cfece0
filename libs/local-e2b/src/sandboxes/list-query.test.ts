import { describe, expect, it } from 'vitest'
import { parseListQuery, parseMetadataFilter, selectSandboxes } from './list-query.ts'

function listed(sequence: number, options: { startedAtMs?: number; metadata?: Record<string, string>; templateName?: string; isEnding?: boolean } = {}) {
  return { sequence, startedAtMs: options.startedAtMs ?? sequence, metadata: options.metadata ?? {}, templateId: 'tid', templateName: options.templateName ?? 'base', isEnding: options.isEnding ?? false }
}

const select = (items: ReturnType<typeof listed>[], query: string) => {
  const { page, nextToken } = selectSandboxes(items, parseListQuery(new URLSearchParams(query)))
  return { sequences: page.map(({ sequence }) => sequence), nextToken }
}

describe('listing sandboxes', () => {
  it('shows the newest first, and the oldest first when asked', () => {
    const items = [listed(1), listed(3), listed(2)]
    expect(select(items, '').sequences).toEqual([3, 2, 1])
    expect(select(items, 'order=asc').sequences).toEqual([1, 2, 3])
  })

  it('orders sandboxes of one millisecond by their start', () => {
    expect(select([listed(1, { startedAtMs: 5 }), listed(2, { startedAtMs: 5 })], '').sequences).toEqual([2, 1])
  })

  it('decodes the metadata filter as often as the SDK encodes it', () => {
    const filter = new URLSearchParams({ [encodeURIComponent('run id')]: encodeURIComponent('a&b=%41') }).toString()
    expect([...parseMetadataFilter(filter)]).toEqual([['run id', 'a&b=%41']])
    const query = new URLSearchParams({ metadata: filter }).toString()
    expect(select([listed(1, { metadata: { 'run id': 'a&b=%41' } }), listed(2)], query).sequences).toEqual([1])
  })

  it('pages without skipping anybody when a sandbox of the page before ends', () => {
    const items = [listed(1), listed(2), listed(3), listed(4)]
    const first = select(items, 'limit=2')
    expect(first).toEqual({ sequences: [4, 3], nextToken: '3-3' })
    const rest = items.filter(({ sequence }) => sequence !== 4)
    expect(select(rest, `limit=2&nextToken=${first.nextToken ?? ''}`)).toEqual({ sequences: [2, 1], nextToken: undefined })
  })

  it('filters by start time, inclusive, by template name or id, and by state', () => {
    const items = [listed(1), listed(2, { templateName: 'other' })]
    expect(select(items, `startedAfter=${new Date(2).toISOString()}`).sequences).toEqual([2])
    expect(select(items, 'template=other').sequences).toEqual([2])
    expect(select(items, 'template=tid').sequences).toEqual([2, 1])
    expect(select(items, 'template=unknown').sequences).toEqual([])
    expect(select(items, 'state=paused').sequences).toEqual([])
    expect(select(items, 'state=paused,running').sequences).toEqual([2, 1])
    const ending = [...items, listed(3, { isEnding: true })]
    expect(select(ending, 'state=running').sequences).toEqual([2, 1])
    expect(select(ending, '').sequences).toEqual([3, 2, 1])
  })

  it.each(['limit=0', 'limit=101', 'limit=x', 'order=up', 'startedAfter=yesterday', 'nextToken=1;2'])('refuses %s with the name of the parameter', (query) => {
    const name = query.split('=')[0] ?? ''
    expect(() => parseListQuery(new URLSearchParams(query))).toThrow(name)
  })
})
