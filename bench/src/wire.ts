// Encode and decode of the commonest messages. Times are of this machine at this moment: compare within one run only.
//
//     pnpm --filter @zk/bench wire
import {
  decode,
  encode,
  encodeFrame,
  FrameDecoder,
  GetChildren2Response,
  GetDataRequest,
  GetDataResponse,
  OpCode,
  ReplyHeader,
  RequestHeader,
  type Stat,
} from '@zk/wire'
import { bench, do_not_optimize, group, run } from 'mitata'

const stat: Stat = {
  czxid: 0x1_0000_0001n,
  mzxid: 0x1_0000_0002n,
  ctime: 1_700_000_000_000n,
  mtime: 1_700_000_000_001n,
  version: 3,
  cversion: 0,
  aversion: 0,
  ephemeralOwner: 0n,
  dataLength: 100,
  numChildren: 0,
  pzxid: 0x1_0000_0001n,
}
const data = new Uint8Array(100)
const children = Array.from(
  { length: 10_000 },
  (_, index) => `_c_f3a1c5d2-0000-4000-8000-00000000000a-lock-${String(index).padStart(10, '0')}`,
)

const getDataRequest = () =>
  encodeFrame((writer) => {
    RequestHeader.write(writer, { xid: 1, type: OpCode.getData })
    GetDataRequest.write(writer, { path: '/services/report/config', watch: false })
  })
const getDataReply = encode(GetDataResponse, { data, stat })
const childrenReply = encode(GetChildren2Response, { children, stat })
const stream = encodeFrame((writer) => {
  ReplyHeader.write(writer, { xid: 1, zxid: 7n, err: 0 })
  GetDataResponse.write(writer, { data, stat })
})

group('getData', () => {
  bench('encode the request frame', () => do_not_optimize(getDataRequest()))
  bench('decode the reply body', () => do_not_optimize(decode(GetDataResponse, getDataReply)))
  bench('cut the reply from the stream', () => {
    const frames = new FrameDecoder()
    frames.push(stream)
    return do_not_optimize(frames.next())
  })
})
group('getChildren', () => {
  bench('decode 10,000 names', () => do_not_optimize(decode(GetChildren2Response, childrenReply)))
})

await run()
