// Judges what the tests have recorded, with Slack's own libraries: a request to us, by the
// verification of Bolt, and the bodies of requests to Slack, by the types of its client. The
// input is {"secret", "signed": {"headers", "body"}, "calls": [{"path", "body"}]}; the output
// lists what is wrong.
import {readFileSync} from 'node:fs'
import bolt from '@slack/bolt'
import {judge} from './types.mjs'

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
wrong.push(...judge(input.calls.map(({path, body}) => ({from: '@slack/web-api', type: types[path], body}))))
console.log(JSON.stringify(wrong))
