import type { ContractFile, Endpoint } from '@osworld-e2b/contracts'
import { asksEndpoints, type EndpointFact } from '@osworld-e2b/gates'
import { askEndpoints } from '../doctor/ask-endpoints.ts'
import { UsageError } from '../usage-error.ts'

/** Refuses to start while an endpoint of a model does not answer or does not take its key, since every attempt would end on it. */
export async function requireEndpoints(contract: ContractFile, environment: NodeJS.ProcessEnv): Promise<void> {
  if (!asksEndpoints(contract)) return
  const { endpoints = [] } = contract.operation
  for (const { label, answer } of await askEndpoints(endpoints, environment)) {
    const problem = problemOf(answer, endpoints.find((endpoint) => endpoint.label === label))
    if (problem !== undefined) throw new UsageError(`The endpoint ${label} ${problem}, then start the run again.`)
  }
}

function problemOf(answer: EndpointFact['answer'], endpoint: Endpoint | undefined): string | undefined {
  const key = endpoint?.api_key_variable ?? 'its key'
  switch (answer.state) {
    case 'answers':
      return undefined
    case 'unset':
      return `is not set; set that environment variable to the endpoint's address`
    case 'key_unset':
      return `has a key in ${key}, which is not set; set that environment variable to the key`
    case 'key_wanted':
      return 'wants a key; name the environment variable that holds it in api_key_variable of the endpoint'
    case 'key_refused':
      return `refuses ${key}; set it to a key that the endpoint accepts`
    case 'unknown':
      return `${answer.problem}; start it or correct its address`
  }
}
