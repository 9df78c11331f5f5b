// Judges what the tests have recorded, with Microsoft's own libraries: the tokens of requests to us, by
// the validation of the Bot Framework, what we post and answer, by its types and those of Teams, and the
// cards, by the library that shows them. The input is {"app", "metadata", "tokens": [{"activity",
// "token", "valid"}], "posted": [text], "answers": [{"name", "body"}]}; the output lists what is wrong.
import {readFileSync} from 'node:fs'
import {createRequire} from 'node:module'
import connector from 'botframework-connector'
import {judge} from './types.mjs'

const {AdaptiveCard, SerializationContext} = createRequire(import.meta.url)('adaptivecards/dist/adaptivecards.js')
const input = JSON.parse(readFileSync(0, 'utf8'))
const wrong = []

connector.ChannelValidation.OpenIdMetadataEndpoint = input.metadata
const credentials = new connector.SimpleCredentialProvider(input.app, 'secret')
for (const {activity, token, valid} of input.tokens) {
  const accepted = await connector.JwtTokenValidation.authenticateRequest(activity, 'Bearer ' + token, credentials, '').then((who) => who.isAuthenticated, () => false)
  if (accepted !== valid) wrong.push(`the Bot Framework ${accepted ? 'accepts' : 'refuses'} ${token}`)
}

const bodies = []
function card(content) {
  bodies.push({from: '@microsoft/teams.cards', type: 'IAdaptiveCard', body: JSON.stringify(content)})
  const context = new SerializationContext()
  new AdaptiveCard().parse(content, context)
  for (let i = 0; i < context.eventCount; i++) wrong.push(context.getEventAt(i).message + ' in ' + JSON.stringify(content))
}
for (const body of input.posted) {
  bodies.push({from: 'botframework-schema', type: 'Activity', partial: true, body})
  JSON.parse(body).attachments?.forEach((a) => card(a.content))
}
const types = {'adaptiveCard/action': 'AdaptiveCardActionResponse', 'task/fetch': 'TaskModuleResponse', 'task/submit': 'TaskModuleResponse'}
for (const {name, body} of input.answers) {
  bodies.push({from: '@microsoft/teams.api', type: types[name], body})
  const content = JSON.parse(body).task?.value?.card?.content
  if (content) card(content)
}
wrong.push(...judge(bodies))
console.log(JSON.stringify(wrong))
