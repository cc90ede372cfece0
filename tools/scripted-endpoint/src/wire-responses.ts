import { type Answer, piecesOf } from './answer.ts'
import { namedEvent, openaiError, type Wire } from './wire.ts'

/** OpenAI's responses (platform.openai.com/docs/api-reference/responses-streaming). */
export const responsesWire: Wire = {
  whole: (answer) => responseOf(answer, 'completed'),
  events: (answer) => {
    const place = { item_id: itemId(answer), output_index: 0, content_index: 0 }
    const events = [
      { type: 'response.created', response: responseOf(answer, 'in_progress') },
      { type: 'response.in_progress', response: responseOf(answer, 'in_progress') },
      { type: 'response.output_item.added', output_index: 0, item: itemOf(answer, 'in_progress') },
      { type: 'response.content_part.added', ...place, part: partOf('') },
      ...piecesOf(answer.text).map((delta) => ({ type: 'response.output_text.delta', ...place, delta, logprobs: [] })),
      { type: 'response.output_text.done', ...place, text: answer.text, logprobs: [] },
      { type: 'response.content_part.done', ...place, part: partOf(answer.text) },
      { type: 'response.output_item.done', output_index: 0, item: itemOf(answer, 'completed') },
      { type: 'response.completed', response: responseOf(answer, 'completed') },
    ]
    return events.map((event, index) => namedEvent({ ...event, sequence_number: index }))
  },
  error: openaiError,
}

function responseOf(answer: Answer, status: 'in_progress' | 'completed') {
  const isDone = status === 'completed'
  return {
    id: `resp_${answer.id}`,
    object: 'response',
    created_at: answer.createdAt,
    status,
    model: answer.model,
    error: null,
    incomplete_details: null,
    instructions: null,
    metadata: {},
    output: isDone ? [itemOf(answer, 'completed')] : [],
    parallel_tool_calls: false,
    temperature: null,
    top_p: null,
    tool_choice: 'auto',
    tools: [],
    usage: isDone ? usageOf(answer) : null,
  }
}

function itemOf(answer: Answer, status: 'in_progress' | 'completed') {
  return { id: itemId(answer), type: 'message', role: 'assistant', status, content: status === 'completed' ? [partOf(answer.text)] : [] }
}

function itemId({ id }: Answer): string {
  return `msg_${id}`
}

function partOf(text: string) {
  return { type: 'output_text', text, annotations: [], logprobs: [] }
}

function usageOf({ usage: { input_tokens: input, output_tokens: output } }: Answer) {
  return { input_tokens: input, input_tokens_details: { cached_tokens: 0 }, output_tokens: output, output_tokens_details: { reasoning_tokens: 0 }, total_tokens: input + output }
}
