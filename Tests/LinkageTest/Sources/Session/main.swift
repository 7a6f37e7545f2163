import FoundationNetworking
import PintlePolicyFile
import PintleURLSession

// Creates a pinned session. It must link libcurl and libssl once each, although Foundation uses libcurl too.
let policy = try PinningPolicy(json: Array(#"{"version": 1, "hosts": []}"#.utf8))
let session = URLSession.pinned(to: policy)
print(session.configuration.protocolClasses?.count ?? 0)
