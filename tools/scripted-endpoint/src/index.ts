export { startScriptedEndpoint, type ScriptedCall, type ScriptedEndpoint, type ScriptedEndpointOptions } from './endpoint.ts'
export { parseScript, parseScriptText, type Script, type ScriptInput } from './script.ts'
export { ScriptedEndpointError, type ScriptedEndpointErrorCode } from './scripted-endpoint-error.ts'
