import FoundationNetworking
import PintleURLSession

// A pinned session: libcurl and libssl, each once, although Foundation has its own use for them.
let policy = try PinningPolicy(json: Array(#"{"version": 1, "hosts": []}"#.utf8))
let session = URLSession.pinned(to: policy)
print(session.configuration.protocolClasses?.count ?? 0)
