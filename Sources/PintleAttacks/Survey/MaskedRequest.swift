internal import PintleTestKit

/// A request without its secrets: its method and at most two segments of its path.
struct MaskedRequest {
    let text: String

    /// The longest segment that is shown. A longer one may be a token.
    private static let segmentLimit = 24
    private static let segmentCount = 2

    init(_ request: HTTPRequest) {
        // The target of a request to a proxy is a whole URL.
        var target = request.target[...]
        if let scheme = target.firstRange(of: "://") { target = target[scheme.upperBound...].drop { $0 != "/" } }
        let path = target.prefix { $0 != "?" && $0 != "#" }
        let segments = path.split(separator: "/")
        var shown = segments.prefix(Self.segmentCount).map { $0.utf8.count <= Self.segmentLimit ? String($0) : "…" }
        if segments.count > Self.segmentCount { shown.append("…") }
        let query = path.endIndex < target.endIndex ? "?…" : ""
        let isMethod = request.method.utf8.count <= 16 && request.method.utf8.allSatisfy { 0x41...0x5A ~= $0 }
        let upgrade = request["upgrade"]?.lowercased() == "websocket" ? ", web socket" : ""
        text = "\(isMethod ? request.method : "…") /\(shown.joined(separator: "/"))\(query)\(upgrade)"
    }
}
