// Signs bodies as GitHub and Stripe do, with the libraries that their receivers use, which also have to
// accept what was signed. The input is {"secret", "github", "stripe"}, bodies as texts, a list of them for
// GitHub; the output {"github", "stripe"}, the headers with the signatures.
import {readFileSync} from 'node:fs'
import {Webhooks} from '@octokit/webhooks'
import Stripe from 'stripe'

const {secret, github, stripe} = JSON.parse(readFileSync(0, 'utf8'))
const hooks = new Webhooks({secret})
const signatures = await Promise.all(github.map(body => hooks.sign(body)))
for (const [n, body] of github.entries()) {
  if (!await hooks.verify(body, signatures[n])) throw new Error('GitHub refuses a signature')
}
const {webhooks} = new Stripe('sk_test_0')
const header = webhooks.generateTestHeaderString({payload: stripe, secret})
webhooks.constructEvent(stripe, header, secret)
console.log(JSON.stringify({github: signatures, stripe: header}))
