export { stories } from './stories.ts'
export { abortedWhileThrottled, drawnPairs, everyPair, type Pair, tellWith, whileRecovering } from './sweep.ts'
