public import Pintle

/// What a store has met with when it looked at its file, beside what it throws.
public enum TrustStoreEvent: Sendable, Hashable {
    /// The file makes no sense. It has another name now, for somebody to look at, and nothing of it counts: every
    /// server in it is unknown again.
    case setAside(path: String, to: String, because: ApprovalFileError)
    /// The file cannot be used as it is. Nothing counts until it can.
    case unusable(TrustStoreError)
    /// Others may read the file, which tells them whom you talk to. The next change ends that.
    case readableByOthers(path: String, mode: UInt32)
}

extension TrustStoreEvent: CustomStringConvertible {
    public var description: String {
        switch self {
        case .setAside(let path, let name, let error):
            "\(path): \(error); it is now \(name), and nothing that it says counts"
        case .unusable(let error): "\(error); until then nobody is approved"
        case .readableByOthers(let path, let mode):
            "\(path): others may read it (mode \(String(mode, radix: 8))); chmod 600 \(path)"
        }
    }
}

/// Why a store was not opened or not changed. Nothing has changed then.
public enum TrustStoreError: Error, Sendable, Hashable {
    case file(StorageError)
    /// A later release wrote the file: it is left as it is.
    case unsupportedVersion(path: String, ApprovalFileError)
    case approval(TrustApprovalError)
    /// The file makes no sense, and could not be given another name.
    case corrupt(path: String, ApprovalFileError, notSetAside: StorageError)

    /// Stable, for machines.
    public var code: String {
        switch self {
        case .file(let error): error.code.rawValue
        case .unsupportedVersion(_, let error): error.id
        case .approval(let error): error.code
        case .corrupt(_, let error, _): error.id
        }
    }
}

extension TrustStoreError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .file(let error): error.description
        case .unsupportedVersion(let path, let error): "\(path): \(error.message); use the release that wrote it"
        case .approval(let error): error.description
        case .corrupt(let path, let error, let reason): "\(path): \(error); it cannot be set aside: \(reason)"
        }
    }
}
