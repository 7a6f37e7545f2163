package import Pintle
package import PintleConsole
internal import PintlePolicyFile
internal import PintleStorage
package import PintleSystem
internal import PintleText

/// The store of `--store`. Prints the store's events, and turns its errors into the tool's.
package final class ApprovalStore {
    /// The path as it was given.
    package let path: String
    private let store: TrustApprovalStore
    private let events: Events
    private let console: Console
    /// A Boolean value that indicates whether the store was damaged and a change has renamed it: no approval in it
    /// counts.
    private(set) var wasSetAside = false

    private final class Events: Sendable {
        let list = Locked<[TrustStoreEvent]>([])
    }

    package init(_ path: String, _ console: Console) throws(ToolError) {
        guard path != "-" else {
            throw .unusable("invalid-store", "the store cannot be a stream", hint: "name a file: --store trust.json")
        }
        let events = Events()
        self.path = path
        self.events = events
        self.console = console
        do {
            store = try TrustApprovalStore(path: path) { event in events.list.withLock { $0.append(event) } }
        } catch {
            throw ToolError(error)
        }
        printEvents()
    }

    package var approvals: TrustApprovals {
        defer { printEvents() }
        return store.approvals
    }

    /// The reason why no approval in the store counts, if it is damaged but could be opened.
    var problem: TrustStoreError? { store.problem }

    package func warnOfProblem() {
        if let problem { console.warn("\(TrustStoreEvent.unusable(problem))") }
    }

    /// Stores a yes to a question.
    package func approve(_ host: UnknownHost, at instant: Date, note: String?) throws(ToolError) {
        // The question has named each of the exceptions.
        try change { () throws(TrustStoreError) in
            _ = try store.approve(
                host, alsoAccepting: host.exceptionsOfCertificate, at: instant, note: note)
        }
    }

    func approve(_ approval: TrustApproval) throws(ToolError) -> TrustApproval {
        try change { () throws(TrustStoreError) in try store.approve(approval) }
        return approval
    }

    /// Revokes an approval and returns it; `nil` if there was none.
    func revoke(_ endpoint: ServerEndpoint, at instant: Date) throws(ToolError) -> TrustApproval? {
        var revoked: TrustApproval?
        try change { () throws(TrustStoreError) in revoked = try store.revoke(endpoint, at: instant) }
        return revoked
    }

    private func change(_ body: () throws(TrustStoreError) -> Void) throws(ToolError) {
        defer { printEvents() }
        do {
            try body()
        } catch {
            throw ToolError(error, store: path)
        }
    }

    private func printEvents() {
        let events = events.list.withLock { list in
            defer { list = [] }
            return list
        }
        for event in events {
            switch event {
            // Callers that need the store check `problem`, or get an error.
            case .unusable: continue
            case .setAside: wasSetAside = true
            case .vanished, .readableByOthers: break
            }
            console.warn("\(event)")
        }
    }
}

extension ToolError {
    /// - Parameter store: the path as it was given.
    init(_ error: TrustStoreError, store: String? = nil) {
        switch error {
        case .file(let problem):
            self = .unusable(error.code, problem.message, file: problem.path, hint: problem.hint)
        case .unsupportedVersion(let path, let problem):
            self = .unusable(
                error.code, problem.message, file: path, line: problem.line, column: problem.column,
                hint: "use the release that wrote it")
        case .notAStore(let path, let problem):
            self = .unusable(
                error.code, "not a file of approvals: \(problem.message)", file: path, line: problem.line,
                column: problem.column,
                hint: "name another file; if this one was a store once, set it aside: mv \(ShellWord.quoted(path)) "
                    + ShellWord.quoted(path + ".old"))
        case .corrupt(let path, let problem, let reason):
            self = .unusable(
                error.code, "\(problem.message); it cannot be set aside: \(reason.message)", file: path,
                line: problem.line, column: problem.column, hint: reason.hint)
        case .damaged(let path, let problem):
            self = .unusable(
                error.code, "the store is damaged: \(problem.message)", file: path, line: problem.line,
                column: problem.column,
                hint: "repair it, or set it aside: mv \(ShellWord.quoted(path)) \(ShellWord.quoted(path + ".old"))")
        case .approval(let problem):
            self.init(problem, store: store)
        }
    }

    init(_ error: TrustApprovalError, store: String? = nil) {
        switch error {
        case .approvedOtherwise(let approval):
            self.init(
                exitCode: .rejected, code: error.code, message: error.description,
                hint: "if the server's owner confirms the change: pintle trust revoke \(approval.endpoint) --store "
                    + ShellWord.quoted(store ?? "FILE"))
        case .unacceptable:
            self.init(exitCode: .rejected, code: error.code, message: error.description)
        case .changedMeanwhile:
            self.init(
                exitCode: .rejected, code: error.code, message: error.description,
                hint: "nothing was stored: check the server again")
        case .incompleteRecord(let record):
            let path = store ?? "FILE"
            self.init(
                exitCode: .rejected, code: error.code,
                message:
                    "earlier approvals \(record == .unreadable ? "cannot be read" : "are lost"), so this server may "
                    + "have been known with another certificate",
                hint: record == .unreadable
                    ? "nothing was stored: repair \(ShellWord.quoted(path)), or set it aside: mv "
                        + "\(ShellWord.quoted(path)) \(ShellWord.quoted(path + ".old"))"
                    : "nothing was stored: look into \(ShellWord.quoted(path + ".corrupt")), then move that away")
        case .alreadyExpired:
            self = .unusable(error.code, error.description, hint: "give --expires a time in the future")
        case .needsCertificate:
            self = .unusable(error.code, error.description, hint: "give --certificate instead of --key")
        case .noteTooLong:
            self = .unusable(error.code, error.description, hint: "shorten --note")
        }
    }
}
