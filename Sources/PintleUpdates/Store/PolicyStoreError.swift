public import Pintle
public import PintleStorage

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The reason that a store cannot be opened or did not adopt an update.
public enum PolicyStoreError: Error, Sendable, Hashable {
    /// The stored update is lost, and the store was opened with ``PolicyStore/LossHandling/refuse``.
    case lostStore(LostUpdate)
    /// The update failed a check, so it was not adopted.
    case rejected(UpdateError)
    /// The update or its floor could not be written, either to the folder or to the floor's copy outside of it.
    case notStored(StorageError)
    /// The copy of the floor outside of the folder cannot be read at this moment, so the store cannot check whether the
    /// update is older than one that was adopted before.
    case floorUnreadable(StorageError)
}

extension PolicyStoreError: CustomStringConvertible {
    /// One line, lower case, no full stop.
    public var description: String {
        switch self {
        case .lostStore(let loss):
            "the stored update\(loss.version.map { " \($0)" } ?? "") is lost: \(loss.reason)"
        case .rejected(let error): "\(error)"
        case .notStored(let error): "the update was not stored: \(error)"
        case .floorUnreadable(let error): "the floor of updates cannot be read: \(error)"
        }
    }
}

extension PolicyStoreError: LocalizedError, DescribedError {}
