public import Pintle

/// What a store has met with when it looked at its file, beside what it throws.
public enum TrustStoreEvent: Sendable, Hashable {
    /// The store was damaged, and somebody changed it. It has another name now, for somebody to look at, and nothing of
    /// it counts: every server in it is unknown again.
    case setAside(path: String, to: String, because: ApprovalFileError)
    /// The file cannot be used as it is. Nothing counts until it can.
    case unusable(TrustStoreError)
    /// The file was there, and is not any more: every server in it is unknown again.
    case vanished(path: String)
    /// Others may read the file, which tells them whom you talk to. The next change ends that.
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
