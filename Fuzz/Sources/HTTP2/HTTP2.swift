@testable import PintleTestKit

/// A client's bytes after the preface. The server gives the same answers however the bytes are cut into pieces. Its
/// output is frames, with GOAWAY exactly at the end of a connection that broke a rule. Requests, held content and the
/// sizes of fields stay within the limits, and the output within a multiple of the input. A header block that the
/// decoder reads is read again when the encoder has written it.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: bytes, count: count))
    readBlock(input)
    let whole = Exchange(input, pieces: .max)
    guard whole == Exchange(input, pieces: 1 + count % 7) else { fatalError("other answers to the same bytes") }
    whole.check(inputCount: count)
    return 0
}

private let limits: HTTP2Limits = {
    var limits = HTTP2Limits()
    (limits.headerBlock, limits.headerList, limits.controlFrames) = (20_000, 8_192, 50)
    (limits.openStreams, limits.requests, limits.content) = (3, 20, 1_000)
    return limits
}()

private struct Exchange: Equatable {
    var requests: [HTTP2ServerConnection.Request] = []
    var output: [UInt8] = []
    var meter = 0
    var failure: HTTP2Error?
    var isOver = false

    init(_ input: [UInt8], pieces: Int) {
        var connection = HTTP2ServerConnection(limits)
        var counter = HTTP2RequestMeter()
        var rest = (HTTP2Frame.preface + [0, 0, 0, 4, 0, 0, 0, 0, 0] + input)[...]
        while !rest.isEmpty {
            let piece = Array(rest.prefix(pieces))
            rest = rest.dropFirst(piece.count)
            meter += counter.count(piece)
            connection.append(piece)
            while let request = connection.next() {
                requests.append(request)
                connection.respond(to: request.stream, .text("0123456789"))
            }
            guard (0...limits.content).contains(connection.heldContent) else { fatalError("\(connection.heldContent)") }
            guard connection.streams.count <= limits.openStreams else { fatalError("too many streams") }
            output += connection.takeOutput()
        }
        (failure, isOver) = (connection.failure, connection.isOver)
    }

    func check(inputCount: Int) {
        // SETTINGS gets its ACK, and each frame of nine bytes at most two frames and a response.
        guard output.count <= 1_000 + 30 * inputCount else { fatalError("\(output.count) bytes") }
        guard meter <= inputCount, requests.count <= limits.requests else { fatalError("\(requests.count) requests") }
        for request in requests {
            let size = request.request.fields.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count }
            // An invalid octet becomes three bytes of UTF-8.
            guard size <= 3 * limits.headerList, request.request.body.count <= limits.content,
                !request.request.method.isEmpty, !request.request.target.isEmpty, request.stream % 2 == 1
            else { fatalError("a request beyond the limits") }
        }
        var reader = HTTP2FrameReader()
        reader.append(HTTP2Frame.preface + output)
        var last: HTTP2Frame?
        do {
            while let frame = try reader.next() {
                guard last?.kind != .goAway, frame.kind != nil else { fatalError("a frame after GOAWAY, or unknown") }
                last = frame
            }
        } catch {
            fatalError("\(error)")
        }
        guard (last?.kind == .goAway) == isOver, failure == nil || isOver else { fatalError("no GOAWAY at the end") }
    }
}

/// Decodes the bytes as a header block.
private func readBlock(_ input: [UInt8]) {
    var decoder = HPACKDecoder(listLimit: limits.headerList)
    guard let fields = try? decoder.fields(of: input) else { return }
    let size = fields.reduce(0) { $0 + $1.size }
    guard size <= limits.headerList, decoder.table.size <= decoder.table.maximumSize,
        decoder.table.maximumSize <= 4_096, decoder.table.size == decoder.table.entries.reduce(0, { $0 + $1.size })
    else { fatalError("a list of \(size) bytes") }
    var again = HPACKDecoder(listLimit: limits.headerList)
    guard (try? again.fields(of: HPACKEncoder.block(fields))) == fields, again.table.entries.isEmpty else {
        fatalError("other fields")
    }
}
