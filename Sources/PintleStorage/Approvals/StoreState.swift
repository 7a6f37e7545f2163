package import Pintle

/// What counts at an instant.
package struct StoreSnapshot: Sendable {
    package internal(set) var approvals = TrustApprovals.none
    /// Grows in this process with every change that it has seen, and never otherwise: also where the file has lost its
    /// own count.
    package internal(set) var revision: UInt64 = 1
}

/// What a store knows of its file.
///
/// A look never changes anything. Whoever changes the store sets aside what is damaged, under the lock.
struct StoreState: Sendable {
    private(set) var snapshot = StoreSnapshot()
    /// Why nothing counts.
    private(set) var problem: TrustStoreError?
    /// What the snapshot was made from; `nil`: look again, whatever is there. While it lives, its version is no other
    /// content's.
    private var seen: DurableFile.Content?
    /// Whether there was something at the last look, readable or not.
    private var wasThere = false
    /// The highest generation that the file has had here.
    private var newest: UInt64 = 0
    /// Whether something that the file held is gone, as far as this process has seen.
    private var isIncomplete = false

    /// Puts other approvals in the place of those that count.
    mutating func replaceApprovals(with approvals: TrustApprovals) {
        guard approvals != snapshot.approvals else { return }
        snapshot.approvals = approvals
        snapshot.revision += 1
    }

    /// Reads the file, unless it is the one that was read last.
    ///
    /// - Parameter lock: the file's; `nil` where the caller only looks. A damaged store is set aside under it.
    /// - Returns: what there is to tell.
    mutating func look(at file: DurableFile, under lock: FileLock?) -> [TrustStoreEvent] {
        // What is bad is looked at again by whoever may mend it.
        if let seen, seen.version == file.version, problem == nil || lock == nil { return [] }
        seen = nil
        var events: [TrustStoreEvent] = []
        do throws(TrustStoreError) {
            if let content = try Self.read(file) {
                wasThere = true
                // What stands in a file is the same until it is another file. Anything else that keeps it from being
                // read may be over in a moment.
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
        // The file that vanished, back again; an older one has forgotten something.
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
