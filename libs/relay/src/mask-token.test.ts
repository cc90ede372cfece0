import fc from 'fast-check'
import { buffer } from 'node:stream/consumers'
import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { maskToken, tokenMask } from './mask-token.ts'

test('however a stream is cut, the token is masked and everything else is as it was', async () => {
  const piece = fc.constantFrom('abab', 'abac', 'ab', 'a', 'c', 'x')
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(piece, { minLength: 1 }), { minLength: 1 }), async (chunks) => {
      const parts = chunks.map((pieces) => Buffer.from(pieces.join('')))
      const masked = await buffer(Readable.from(parts).pipe(tokenMask('ababac')))
      expect(masked.toString()).toBe(Buffer.concat(parts).toString().replaceAll('ababac', '******'))
    }),
  )
})

test('data without the token is passed on and not copied', () => {
  const data = Buffer.from('nothing here')
  expect(maskToken(data, Buffer.from('token'))).toBe(data)
})
