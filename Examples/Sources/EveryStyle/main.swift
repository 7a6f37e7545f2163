// Runs every style of task on loopback against three servers: the right server, an interceptor whose authority the
// client trusts, and the interceptor without pins. Then runs the program beside this one against the first two. Exits
// with 1 if a result is not as expected.
import Foundation
import FoundationNetworking
import PintleTestKit
import PintleURLSession

let stage = try Stage()
var failures = 0

@MainActor func check(_ what: String, _ isTrue: Bool) {
    print(isTrue ? "  ok    " : "  WRONG ", what)
    if !isTrue { failures += 1 }
}

func request(_ server: LoopbackTLSServer, _ style: Style) throws -> URLRequest {
    guard let url = URL(string: server.url()) else { throw URLError(.badURL) }
    var request = URLRequest(url: url)
    request.httpMethod = style.method
    return request
}

/// Returns the reason of a refusal; `nil` for data and for other errors.
func refusal(_ body: () async throws -> Data) async -> TrustDecision.Reason? {
    do {
        _ = try await body()
        return nil
    } catch {
        return TrustRejection(underlying: error)?.code
    }
}

let (pinned, unpinned) = (URLSession.pinned(to: stage.pinned), URLSession.pinned(to: stage.unpinned))
for style in Style.all(file: URL(fileURLWithPath: stage.contentFile)) {
    let answer = Data((style.method == "PUT" ? "PUT \(Style.content.count)" : "GET 0").utf8)
    let fromServer = try await style.run(pinned, request(stage.server, style))
    let before = stage.interceptor.requestByteCount
    let reason = await refusal { try await style.run(pinned, request(stage.interceptor, style)) }
    let hasRefused = reason == .pinMismatch && stage.interceptor.requestByteCount == before
    let control = try await style.run(unpinned, request(stage.interceptor, style))
    check(
        style.name,
        fromServer == answer && hasRefused && control == answer && stage.interceptor.requestByteCount > before)
}

/// Runs the program `Pinned` in the same folder. Returns `true` if it succeeds.
@MainActor func pinnedReaches(_ server: LoopbackTLSServer) throws -> Bool {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        .appendingPathComponent("Pinned")
    process.arguments = [server.url()]
    process.environment = ProcessInfo.processInfo.environment.merging(["PINTLE_POLICY": stage.policyFile]) { $1 }
    try process.run()
    process.waitUntilExit()
    return process.terminationStatus == 0
}

check("Pinned reaches the server", try pinnedReaches(stage.server))
let before = stage.interceptor.requestByteCount
check("Pinned refuses the interceptor", try !pinnedReaches(stage.interceptor))
check("which gets no byte", stage.interceptor.requestByteCount == before)
try stage.removeFiles()
exit(failures == 0 ? 0 : 1)
