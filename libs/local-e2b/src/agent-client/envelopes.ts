/** Splits a Connect stream into its JSON messages; the closing one is yielded like the others. */
export async function* readEnvelopes(chunks: AsyncIterable<Buffer>): AsyncGenerator {
  let rest = Buffer.alloc(0)
  for await (const chunk of chunks) {
    rest = Buffer.concat([rest, chunk])
    while (rest.length >= 5 && rest.length >= 5 + rest.readUInt32BE(1)) {
      const end = 5 + rest.readUInt32BE(1)
      yield JSON.parse(rest.toString('utf8', 5, end)) as unknown
      rest = rest.subarray(end)
    }
  }
}
