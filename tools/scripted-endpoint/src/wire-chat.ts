import { type Answer, piecesOf } from './answer.ts'
import { dataEvent, openaiError, type Wire } from './wire.ts'

/** OpenAI's chat completions (platform.openai.com/docs/api-reference/chat). */
export const chatWire: Wire = {
  whole: (answer) => ({
    ...headOf(answer, 'chat.completion'),
    choices: [{ index: 0, message: { role: 'assistant', content: answer.text, refusal: null }, logprobs: null, finish_reason: 'stop' }],
    usage: usageOf(answer),
  }),
  events: (answer, { wantsUsage }) => {
    const chunk = (delta: unknown, finishReason: string | null = null) => dataEvent({ ...headOf(answer, 'chat.completion.chunk'), choices: [{ index: 0, delta, finish_reason: finishReason }] })
    return [
      chunk({ role: 'assistant', content: '' }),
      ...piecesOf(answer.text).map((content) => chunk({ content })),
      chunk({}, 'stop'),
      ...(wantsUsage ? [dataEvent({ ...headOf(answer, 'chat.completion.chunk'), choices: [], usage: usageOf(answer) })] : []),
      'data: [DONE]',
    ]
  },
  error: openaiError,
}

function headOf({ id, model, createdAt }: Answer, object: string) {
  return { id: `chatcmpl-${id}`, object, created: createdAt, model }
}

function usageOf({ usage }: Answer) {
  return { prompt_tokens: usage.input_tokens, completion_tokens: usage.output_tokens, total_tokens: usage.input_tokens + usage.output_tokens }
}
