export { stories } from './stories.ts'
export { drawnPairs, everyPair, type Pair, tellWith, whileRecovering } from './sweep.ts'
