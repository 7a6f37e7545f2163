internal import PintleTestKit

/// A request without its secrets: its method and at most two segments of its path.
struct MaskedRequest {
    let text: String

    /// The longest segment that is shown. A longer one may be a token.
    private static let segmentLimit = 24
    private static let segmentCount = 2

    init(_ request: HTTPRequest) {
        // A query may hold anything, also a URL.
        let target = request.target.prefix { $0 != "?" && $0 != "#" }
        // The target of a request to a proxy is a whole URL. Any other target that is no path is not shown.
        let scheme = target.firstRange(of: "://")
        let rest = scheme.map { target[$0.upperBound...].drop { $0 != "/" } } ?? target
        let path = rest.first == "/" ? rest : ""
        // Parameters of a segment (RFC 3986 section 3.3) may hold a session.
        let segments = path.split(separator: "/").map { $0.prefix { $0 != ";" } }
        var shown = segments.prefix(Self.segmentCount).map { $0.utf8.count <= Self.segmentLimit ? String($0) : "…" }
        if segments.count > Self.segmentCount { shown.append("…") }
        let query = target.endIndex < request.target.endIndex ? "?…" : ""
        let isMethod = request.method.utf8.count <= 16 && request.method.utf8.allSatisfy { 0x41...0x5A ~= $0 }
        let upgrade = request["upgrade"]?.lowercased() == "websocket" ? ", web socket" : ""
        text = "\(isMethod ? request.method : "…") /\(shown.joined(separator: "/"))\(query)\(upgrade)"
    }
}
