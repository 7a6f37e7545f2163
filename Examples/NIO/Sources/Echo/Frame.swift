import NIOCore

/// A message as gRPC frames it: a flag for compression, which is 0 here, and the length in four bytes.
struct FrameCodec: ByteToMessageDecoder, MessageToByteEncoder {
    typealias InboundOut = String
    typealias OutboundIn = String

    static let maximumLength: UInt32 = 1 << 20

    struct TooLong: Error {}

    mutating func decode(context: ChannelHandlerContext, buffer: inout ByteBuffer) throws -> DecodingState {
        guard let length = buffer.getInteger(at: buffer.readerIndex + 1, as: UInt32.self) else { return .needMoreData }
        guard length <= Self.maximumLength else { throw TooLong() }
        guard buffer.readableBytes >= 5 + Int(length) else { return .needMoreData }
        buffer.moveReaderIndex(forwardBy: 5)
        context.fireChannelRead(wrapInboundOut(buffer.readString(length: Int(length)) ?? ""))
        return .continue
    }

    mutating func decodeLast(
        context: ChannelHandlerContext, buffer: inout ByteBuffer, seenEOF: Bool
    ) throws -> DecodingState {
        try decode(context: context, buffer: &buffer)
    }

    func encode(data: String, out: inout ByteBuffer) throws {
        out.writeInteger(UInt8(0))
        out.writeInteger(UInt32(data.utf8.count))
        out.writeString(data)
    }
}
