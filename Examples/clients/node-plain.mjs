// Requests an address with Node. Usage: node node-plain.mjs URL
import { get } from 'node:https'

get(process.argv[2], { signal: AbortSignal.timeout(3000) }, (response) => response.resume()).on('error', (error) => {
  console.error(error.message)
  process.exitCode = 1
})
