/**
 * The argument parser's `error: unknown option '--x'` with its `(Did you mean --y?)` on a second line, as one sentence
 * that ends with what to do next.
 */
export function usageSentence(parserText: string): string {
  const [what = '', ...hints] = parserText.trim().replace(/^error: /, '').split('\n')
  const near = /Did you mean (.*)\?\)$/.exec(hints.join(' '))?.[1]
  const sentence = `${what.charAt(0).toUpperCase()}${what.slice(1).replace(/\.$/, '')}`
  return `${sentence}; ${near === undefined ? '' : `did you mean ${near}? `}\`osworld --help\` and \`osworld <verb> --help\` tell what there is.\n`
}
