// Requests an address with Node and pins the leaf's key, as the documentation of node:https shows.
// Usage: node node-pinned.mjs URL sha256/PIN...
import { createHash, X509Certificate } from 'node:crypto'
import { get } from 'node:https'
import { checkServerIdentity } from 'node:tls'

const [url, ...pins] = process.argv.slice(2)
const options = {
  signal: AbortSignal.timeout(3000),
  checkServerIdentity(host, certificate) {
    const error = checkServerIdentity(host, certificate)
    if (error) return error
    const key = new X509Certificate(certificate.raw).publicKey.export({ type: 'spki', format: 'der' })
    const pin = 'sha256/' + createHash('sha256').update(key).digest('base64')
    if (!pins.includes(pin)) return new Error(`${pin} is not pinned`)
  },
}
get(url, options, (response) => response.resume()).on('error', (error) => {
  console.error(error.message)
  process.exitCode = 1
})
