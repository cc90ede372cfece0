import { randomBytes, randomUUID } from 'node:crypto'

const alphabet = 'abcdefghijklmnopqrstuvwxyz0123456789'
/** Bytes from here on are thrown away, so that every letter is equally likely. */
const fairBytes = 252

/** `length` random letters of [a-z0-9], unpredictable. */
export function randomLetters(length: number): string {
  let letters = ''
  while (letters.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < fairBytes && letters.length < length) letters += alphabet.charAt(byte % alphabet.length)
    }
  }
  return letters
}

/** Sandbox ids must have no dash: it separates port and id in a Host label. */
export const newSandboxId = (): string => `i${randomLetters(20)}`
export const newTemplateId = (): string => randomLetters(20)
export const newBuildId = (): string => randomUUID()
export const newToken = (): string => randomLetters(40)
