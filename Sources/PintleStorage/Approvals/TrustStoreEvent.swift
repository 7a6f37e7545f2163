internal import Pintle
public import PintlePolicyFile

/// An event of a store when it reads its file, in addition to the errors that it throws.
public enum TrustStoreEvent: Sendable, Hashable {
    /// The store was damaged, and a change has renamed the file, so that the user can inspect it. No approval in it
    /// counts: every server is unknown again.
    case setAside(path: String, to: String, because: ApprovalFileError)
    /// The file cannot be used at this time. Until it can, no approval counts.
    case unusable(TrustStoreError)
    /// The file has disappeared: every server is unknown again.
    case vanished(path: String)
    /// Other users may read the file, which shows them the servers you use. The next change ends that.
    case readableByOthers(path: String, mode: UInt32)
}

extension TrustStoreEvent: CustomStringConvertible {
    /// One line for a log.
    public var description: String {
        switch self {
        case .setAside(let path, let name, let error):
            "\(path): \(error); it is now \(name), and nothing that it says counts"
        case .unusable(let error): "\(error); until then no server is approved"
        case .vanished(let path): "\(path): it was there before, and is gone; no server is approved any more"
        case .readableByOthers(let path, let mode):
            "\(path): others may read it (mode \(String(mode, radix: 8))); chmod 600 \(path)"
        }
    }
}
