public import Pintle

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Why a store was not opened or not changed. Nothing has changed then.
public enum TrustStoreError: Error, Sendable, Hashable {
    /// The file cannot be read or written.
    case file(StorageError)
    /// A later release wrote the file: it is left as it is.
    case unsupportedVersion(path: String, ApprovalFileError)
    /// The file does not look like one of approvals, whole or damaged: it is left as it is. If it was a store once,
    /// somebody has to move it away.
    case notAStore(path: String, ApprovalFileError)
    /// What is left of a store. Nothing of it counts, and who was approved by it is not known. The next change sets it
    /// aside; until then it stays for somebody to mend.
    case damaged(path: String, ApprovalFileError)
    /// The approval is not one that counts.
    case approval(TrustApprovalError)
    /// The store is damaged, and could not be given another name.
    case corrupt(path: String, ApprovalFileError, notSetAside: StorageError)

    /// Stable, for machines.
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
    /// One line: the file, what is wrong with it, and what to do.
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
