// Signs bodies as GitHub and Stripe do, with the libraries that their receivers use, which also have to
// accept what was signed. The input is {"secret", "github", "stripe"}, two bodies as texts; the output
// {"github", "stripe"}, the headers with the signatures.
import {readFileSync} from 'node:fs'
import {Webhooks} from '@octokit/webhooks'
import Stripe from 'stripe'

const {secret, github, stripe} = JSON.parse(readFileSync(0, 'utf8'))
const hooks = new Webhooks({secret})
const signature = await hooks.sign(github)
if (!await hooks.verify(github, signature)) throw new Error('GitHub refuses a signature')
const {webhooks} = new Stripe('sk_test_0')
const header = webhooks.generateTestHeaderString({payload: stripe, secret})
webhooks.constructEvent(stripe, header, secret)
console.log(JSON.stringify({github: signature, stripe: header}))
