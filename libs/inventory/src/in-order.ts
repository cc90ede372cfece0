/** Results of `work` in the order of `items`, with at most `atOnce` of them under way. */
export async function* inOrder<Item, Result>(items: AsyncIterable<Item>, atOnce: number, work: (item: Item) => Promise<Result>): AsyncGenerator<Result> {
  const underWay: Promise<Result>[] = []
  for await (const item of items) {
    const result = work(item)
    // Whoever takes results learns of a failure; one that nobody takes any more must not end the process.
    result.catch(() => undefined)
    underWay.push(result)
    const first = underWay.length >= atOnce ? underWay.shift() : undefined
    if (first !== undefined) yield await first
  }
  for (const result of underWay) yield await result
}
