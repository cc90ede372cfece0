import { computedUsage, type ModelRequest } from './model-request.ts'
import type { AnswerStep, Usage } from './script.ts'

export interface Answer {
  /** Unique in this endpoint. */
  readonly id: string
  readonly model: string
  readonly text: string
  readonly usage: Usage
  /** Unix seconds. */
  readonly createdAt: number
}

export function textOf(step: AnswerStep): string {
  if ('text' in step) return step.text
  const call = JSON.stringify({ name: 'computer_use', arguments: { action: step.action, ...step.arguments } })
  return `Action: The next step.\n<tool_call>\n${call}\n</tool_call>`
}

export function answerOf(step: AnswerStep, request: ModelRequest, { number, now }: { readonly number: number; readonly now: Date }): Answer {
  const text = textOf(step)
  return { id: String(number), model: request.model, text, usage: step.usage ?? computedUsage(request.texts, text), createdAt: Math.floor(now.getTime() / 1000) }
}

const pieceLength = 16

/** The text in pieces, as a stream brings it; at least two unless there is nothing to cut. */
export function piecesOf(text: string): readonly string[] {
  const length = Math.min(pieceLength, Math.max(1, Math.ceil(text.length / 2)))
  return Array.from({ length: Math.ceil(text.length / length) }, (_, index) => text.slice(index * length, (index + 1) * length))
}
