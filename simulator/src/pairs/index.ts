export { stories } from './stories.ts'
export { drawnPairs, everyPair, type Pair, tellWith } from './sweep.ts'
