package import Pintle

/// What counts at an instant.
package struct StoreSnapshot: Sendable {
    package internal(set) var approvals = TrustApprovals.none
    /// Grows in this process with every change that it has seen, and never otherwise: also where the file has lost its
    /// own count.
    package internal(set) var revision: UInt64 = 1
}

/// What a store knows of its file.
struct StoreState: Sendable {
    private(set) var snapshot = StoreSnapshot()
    /// Why nothing counts.
    private(set) var problem: TrustStoreError?
    /// What the snapshot was made from; `nil`: look again, whatever is there.
    private var seen: Seen?

    private struct Seen: Sendable {
        /// `nil`: there was no file.
        let version: FileVersion?
        /// While it lives, the version is no other content's.
        let content: DurableFile.Content?
    }

    /// Puts other approvals in the place of those that count.
    mutating func take(_ approvals: TrustApprovals) {
        guard approvals != snapshot.approvals else { return }
        snapshot.approvals = approvals
        snapshot.revision += 1
    }

    /// Reads the file, unless it is the one that was read last.
    ///
    /// - Parameter lock: the file's; `nil` where the caller does not have it. A file that makes no sense is set aside
    ///   under it; nobody waits for it here.
    /// - Returns: what there is to tell.
    mutating func look(at file: DurableFile, under lock: FileLock?) -> [TrustStoreEvent] {
        let version = file.version
        if let seen, seen.version == version { return [] }
        var events: [TrustStoreEvent] = []
        do throws(TrustStoreError) {
            let (approvals, content) = try Self.read(file, under: lock, &events)
            take(approvals)
            seen = Seen(version: content?.version, content: content)
            problem = nil
        } catch {
            take(.none)
            // Whoever is changing the file is done in a moment; everything else stays until the file is another one.
            seen = error.passes ? nil : Seen(version: version, content: nil)
            if problem != error { events.append(.unusable(error)) }
            problem = error
        }
        return events
    }

    private static func read(
        _ file: DurableFile, under lock: FileLock?, _ events: inout [TrustStoreEvent]
    ) throws(TrustStoreError) -> (TrustApprovals, DurableFile.Content?) {
        let content: DurableFile.Content?
        do {
            content = try file.read()
        } catch {
            throw .file(error)
        }
        guard let content else { return (.none, nil) }
        let mistake: ApprovalFileError
        do {
            let approvals = try TrustApprovals(json: content.bytes)
            if content.mode & 0o077 != 0 { events.append(.readableByOthers(path: file.path, mode: content.mode)) }
            return (approvals, content)
        } catch {
            mistake = error
        }
        guard !mistake.isUnsupportedVersion else { throw .unsupportedVersion(path: file.path, mistake) }
        let own: FileLock
        do {
            if let lock {
                events.append(
                    .setAside(path: file.path, to: try file.setAside(under: lock), because: mistake))
                return (.none, nil)
            }
            own = try file.lock(patience: 0)
        } catch {
            throw .corrupt(path: file.path, mistake, notSetAside: error)
        }
        // Once more: whoever had the lock may have put a good one in its place.
        return try read(file, under: own, &events)
    }
}

extension TrustStoreError {
    /// Whether it is a matter of moments.
    fileprivate var passes: Bool {
        if case .corrupt(_, _, notSetAside: let error) = self { error.code == .busy } else { false }
    }
}
