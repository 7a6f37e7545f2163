package import Pintle
internal import PintlePolicyFile

/// The approvals at an instant.
package struct StoreSnapshot: Sendable {
    package internal(set) var approvals = TrustApprovals.none
    /// A counter for this process. It grows with every change that the process sees, even if the file has lost its own
    /// generation.
    package internal(set) var revision: UInt64 = 1
}

/// The knowledge of a store about its file.
///
/// A read without the lock never changes the file. A caller that changes the store holds the lock; a damaged file is
/// then set aside.
struct StoreState: Sendable {
    private(set) var snapshot = StoreSnapshot()
    /// The reason that no approval counts; `nil` if the file is usable.
    private(set) var problem: TrustStoreError?
    /// The content from which the snapshot was made; `nil` to read the file again in any case. While this value exists,
    /// no other content can have the same version.
    private var seen: DurableFile.Content?
    /// A Boolean value that indicates whether the file existed at the last read, readable or not.
    private var wasThere = false
    /// The highest generation that this process has seen in the file.
    private var newest: UInt64 = 0
    /// A Boolean value that indicates whether approvals that this process has seen in the file are lost.
    private var isIncomplete = false

    /// Replaces the current approvals.
    mutating func replaceApprovals(with approvals: TrustApprovals) {
        guard approvals != snapshot.approvals else { return }
        snapshot.approvals = approvals
        snapshot.revision += 1
    }

    /// Reads the file, unless its version is that of the last read.
    ///
    /// - Parameters:
    ///   - file: the file of the store.
    ///   - lock: the lock of the file; `nil` for a read that must not change it. With the lock, a damaged file is set
    ///     aside.
    /// - Returns: the events to send.
    mutating func look(at file: DurableFile, under lock: FileLock?) -> [TrustStoreEvent] {
        // A caller with the lock reads a bad file again, because it may set the file aside.
        if let seen, seen.version == file.version, problem == nil || lock == nil { return [] }
        seen = nil
        var events: [TrustStoreEvent] = []
        do throws(TrustStoreError) {
            if let content = try Self.read(file) {
                wasThere = true
                // Remember even a file with bad content: it stays bad until it is replaced. A file that cannot be read
                // is not remembered, because the reason may be temporary.
                seen = content
                do throws(TrustStoreError) {
                    apply(try Self.approvals(in: content, of: file), content, file, &events)
                } catch {
                    guard let lock, case .damaged(_, let mistake) = error else { throw error }
                    try setAside(file, because: mistake, under: lock, &events)
                }
            } else {
                applyAbsence(of: file, &events)
            }
            problem = nil
        } catch {
            wasThere = true
            replaceApprovals(with: TrustApprovals(record: .unreadable))
            if problem != error { events.append(.unusable(error)) }
            problem = error
        }
        return events
    }

    private mutating func apply(
        _ approvals: TrustApprovals, _ content: DurableFile.Content, _ file: DurableFile,
        _ events: inout [TrustStoreEvent]
    ) {
        if content.mode & 0o077 != 0 { events.append(.readableByOthers(path: file.path, mode: content.mode)) }
        // The file that had vanished may be back. A lower generation means that approvals are lost.
        if isIncomplete, newest > 0, approvals.revision >= newest { isIncomplete = false }
        if approvals.revision < newest { isIncomplete = true }
        newest = max(newest, approvals.revision)
        var approvals = approvals
        approvals.record = isIncomplete || file.hasSetAside ? .lost : .complete
        replaceApprovals(with: approvals)
    }

    private mutating func applyAbsence(of file: DurableFile, _ events: inout [TrustStoreEvent]) {
        if wasThere {
            events.append(.vanished(path: file.path))
            isIncomplete = true
        }
        wasThere = false
        replaceApprovals(with: TrustApprovals(record: isIncomplete || file.hasSetAside ? .lost : .complete))
    }

    private mutating func setAside(
        _ file: DurableFile, because mistake: ApprovalFileError, under lock: FileLock,
        _ events: inout [TrustStoreEvent]
    ) throws(TrustStoreError) {
        do {
            events.append(.setAside(path: file.path, to: try file.setAside(under: lock), because: mistake))
        } catch {
            throw .corrupt(path: file.path, mistake, notSetAside: error)
        }
        seen = nil
        wasThere = false
        isIncomplete = true
        replaceApprovals(with: TrustApprovals(record: .lost))
    }

    private static func read(_ file: DurableFile) throws(TrustStoreError) -> DurableFile.Content? {
        do {
            return try file.read()
        } catch {
            throw .file(error)
        }
    }

    private static func approvals(
        in content: DurableFile.Content, of file: DurableFile
    ) throws(TrustStoreError) -> TrustApprovals {
        do {
            return try TrustApprovals(json: content.bytes)
        } catch {
            if error.isUnsupportedVersion { throw .unsupportedVersion(path: file.path, error) }
            throw StoreRemainder.isOne(content.bytes)
                ? .damaged(path: file.path, error) : .notAStore(path: file.path, error)
        }
    }
}
