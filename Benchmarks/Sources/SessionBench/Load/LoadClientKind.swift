/// The clients of section G.
enum LoadClientKind: String, CaseIterable {
    case pinned
    case libcurl
    case go
    case stock
    /// A pinned session with half of the requests, and another one with the other half.
    case pinnedTwice
    /// A pinned session that also runs tasks whose delegate is slow.
    case besideSlowDelegate
    /// A pinned session that also runs tasks to a slow host.
    case besideSlowHost

    /// The clients that are compared with each other.
    static let compared: [Self] = [.pinned, .libcurl, .go, .stock]

    var title: String {
        switch self {
        case .pinned: "pinned session"
        case .libcurl: "libcurl multi"
        case .go: "Go net/http"
        case .stock: "stock URLSession"
        case .pinnedTwice: "two pinned sessions"
        case .besideSlowDelegate: "beside a slow delegate"
        case .besideSlowHost: "beside a slow host"
        }
    }
}
