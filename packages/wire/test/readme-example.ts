import * as wire from '../src/index.ts'

const request = wire.encodeFrame((writer) => {
  wire.RequestHeader.write(writer, { xid: 1, type: wire.OpCode.getData })
  wire.GetDataRequest.write(writer, { path: '/config', watch: false })
})

const decoder = new wire.FrameDecoder()
function received(chunk: Uint8Array): void {
  decoder.push(chunk)
  for (let frame = decoder.next(); frame !== undefined; frame = decoder.next()) {
    const reader = new wire.Reader(frame)
    const { xid, err } = wire.readNamed(wire.ReplyHeader, reader)
    if (err !== 0) console.log(xid, wire.errorName(err))
    else console.log(xid, wire.readNamed(wire.GetDataResponse, reader).stat.version)
  }
}

export { received, request }
