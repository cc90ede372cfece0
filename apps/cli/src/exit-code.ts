/** The promised exit codes of `osworld`. */
export const exitCode = { complete: 0, incomplete: 1, usage: 2, refused: 3, budget: 4, interrupted: 130 } as const
export type ExitCode = (typeof exitCode)[keyof typeof exitCode]
