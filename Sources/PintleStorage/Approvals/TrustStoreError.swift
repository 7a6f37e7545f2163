public import Pintle
public import PintlePolicyFile

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The reason that a store was not opened or not changed. The store is then as before.
public enum TrustStoreError: Error, Sendable, Hashable {
    /// The file cannot be read or written.
    case file(StorageError)
    /// The file was written by a later release. It is left unchanged.
    case unsupportedVersion(path: String, ApprovalFileError)
    /// The file is not a store, not even a damaged one. It is left unchanged. If it was a store once, the user must
    /// move it.
    case notAStore(path: String, ApprovalFileError)
    /// The file is a damaged store. No approval in it counts. The next change sets the file aside; until then the user
    /// can repair it.
    case damaged(path: String, ApprovalFileError)
    /// The approval is not valid.
    case approval(TrustApprovalError)
    /// The store is damaged and could not be renamed.
    case corrupt(path: String, ApprovalFileError, notSetAside: StorageError)

    /// The code; stable, for programs.
    public var code: String {
        switch self {
        case .file(let error): error.code.rawValue
        case .unsupportedVersion(_, let error): error.id
        case .notAStore: "not-a-store"
        case .damaged: "damaged-store"
        case .approval(let error): error.code
        case .corrupt(_, let error, _): error.id
        }
    }
}

extension TrustStoreError: CustomStringConvertible {
    /// One line: the file, the problem and the remedy.
    public var description: String {
        switch self {
        case .file(let error): error.description
        case .unsupportedVersion(let path, let error): "\(path): \(error.message); use the release that wrote it"
        case .notAStore(let path, let error):
            "\(path): no file of approvals: \(error); name another file or, if it was one, move it away"
        case .damaged(let path, let error): "\(path): damaged: \(error); mend it, or move it away"
        case .approval(let error): error.description
        case .corrupt(let path, let error, let reason): "\(path): \(error); it cannot be set aside: \(reason)"
        }
    }
}

extension TrustStoreError: LocalizedError, DescribedError {}
