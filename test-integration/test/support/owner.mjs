// A process that starts an ensemble and never stops it.
import { Ensemble } from '@zk/test-integration/ensemble'

const ensemble = await Ensemble.start({ nodes: 1 })
console.log(JSON.stringify(ensemble.description))
setInterval(() => {}, 60_000)
