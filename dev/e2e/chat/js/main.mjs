// Judges what the tests have recorded, with Slack's own libraries: a request to us, by the
// verification of Bolt, and the bodies of requests to Slack, by the types of its client. The
// input is {"secret", "signed": {"headers", "body"}, "calls": [{"path", "body"}]}; the output
// lists what is wrong.
import {readFileSync, writeFileSync} from 'node:fs'
import {join} from 'node:path'
import bolt from '@slack/bolt'
import ts from 'typescript'

const input = JSON.parse(readFileSync(0, 'utf8'))
const wrong = []

const {headers, body} = input.signed
const verifies = (body) => bolt.isValidSlackRequest({
  signingSecret: input.secret, body,
  headers: {'x-slack-signature': headers['X-Slack-Signature'], 'x-slack-request-timestamp': Number(headers['X-Slack-Request-Timestamp'])},
})
if (!verifies(body)) wrong.push('Bolt refuses the signature of a request')
if (verifies(body + '&x=1')) wrong.push('Bolt accepts an altered request')

const types = {
  '/api/chat.postMessage': 'ChatPostMessageArguments', '/api/chat.update': 'ChatUpdateArguments',
  '/api/chat.postEphemeral': 'ChatPostEphemeralArguments', '/api/views.open': 'ViewsOpenArguments',
}
let source = `import type {${Object.values(types).join(', ')}} from '@slack/web-api'\n`
input.calls.forEach(({path, body}, i) => {
  if (!types[path]) wrong.push(`an unknown request ${path}`)
  else source += `export const call${i}: ${types[path]} = ${body}\n`
})
const file = join(import.meta.dirname, 'calls.mts')
writeFileSync(file, source)
const program = ts.createProgram([file], {
  noEmit: true, strict: true, skipLibCheck: true, target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext, preserveSymlinks: true,
})
for (const d of ts.getPreEmitDiagnostics(program)) wrong.push(ts.flattenDiagnosticMessageText(d.messageText, '\n') + ' in ' + (d.file?.text.slice(d.start, d.start + 200) ?? ''))
console.log(JSON.stringify(wrong))
