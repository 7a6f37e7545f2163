// Requests an address with Node and pins `cert.pubkey`, which is how the documentation of node:https reads the key.
// Usage: node node-documented.mjs URL PIN...
import { createHash } from 'node:crypto'
import { get } from 'node:https'
import { checkServerIdentity } from 'node:tls'

const [url, ...pins] = process.argv.slice(2)
const options = {
  signal: AbortSignal.timeout(3000),
  checkServerIdentity(host, cert) {
    const error = checkServerIdentity(host, cert)
    if (error) return error
    const pin = createHash('sha256').update(cert.pubkey).digest('base64')
    if (!pins.includes(pin)) return new Error(`${pin} is not pinned`)
  },
}
get(url, options, (response) => response.resume()).on('error', (error) => {
  console.error(error.message)
  process.exitCode = 1
})
