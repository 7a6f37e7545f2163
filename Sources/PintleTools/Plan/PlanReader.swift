internal import FoundationEssentials
internal import Pintle
internal import PintleOpenSSL

/// Reads a plan file value by value and goes on after a mistake, so that all of them are told at once.
struct PlanReader {
    /// Reads a policy file that the plan names; the path as it stands there.
    private let policyFile: (String) throws(ToolError) -> PinningPolicy
    /// Where in the plan, and what; with a place of its own where it lies in another file.
    var problems: [(offset: Int, error: ToolError)] = []
    private var policies: [PinningPolicy] = []
    /// `nil` for those that cannot be read, which are told once.
    private var filePolicies: [String: Int?] = [:]

    private init(policyFile: @escaping (String) throws(ToolError) -> PinningPolicy) {
        self.policyFile = policyFile
    }

    /// - Parameters:
    ///   - file: what errors call it.
    ///   - policyFile: reads a policy that the plan names by its path.
    /// - Throws: every problem with its place, in the order of the file; at most 100.
    static func read(
        _ bytes: [UInt8], file: String, policyFile: @escaping (String) throws(ToolError) -> PinningPolicy
    ) throws(ToolError) -> RotationPlan {
        let document: JSONDocument
        do {
            // Shares have decimals, and the policies inside have a depth of their own.
            document = try JSONDocument(
                bytes, limits: .init(maximumBytes: PlanLimits.fileSize, maximumDepth: 20, allowsAnyNumber: true))
        } catch {
            throw .unusable(
                error.code.rawValue, error.message, file: file, line: error.line, column: error.column,
                hint: error.hint ?? "the file must be JSON as RFC 8259 has it")
        }
        var reader = PlanReader(policyFile: policyFile)
        let plan = reader.plan(document.root)
        if let error = ToolError.joining(reader.placed(in: document, file: file)) { throw error }
        guard let plan else { throw .unusable("invalid-plan", "the plan cannot be used", file: file) }
        return plan
    }

    /// Whether nobody would read on.
    var isFull: Bool { problems.count >= PlanLimits.problems }

    private func placed(in document: JSONDocument, file: String) -> [ToolError] {
        let order = problems.indices.sorted { (problems[$0].offset, $0) < (problems[$1].offset, $1) }
        let sorted = order.prefix(PlanLimits.problems).map { problems[$0] }
        let places = document.places(at: sorted.map(\.offset))
        return zip(sorted, places).map { problem, place in
            var error = problem.error
            guard error.file == nil else { return error }
            error.file = file
            if error.line == nil { (error.line, error.column) = (place.line, place.column) }
            return error
        }
    }

    private mutating func plan(_ root: JSONValue) -> RotationPlan? {
        guard let members = members(of: root, as: PlanKeys.Plan.self, "the plan") else { return nil }
        if let version = required(.version, of: members, in: root, "the plan", example: "1") {
            _ = integer(version, in: 1...1, id: "unsupported-version", "version")
        }
        let until = required(.until, of: members, in: root, "the plan", example: "\"2027-12-01\"")
            .flatMap { date($0, "until") }
        let keyList = required(.keys, of: members, in: root, "the plan", example: "[{\"name\": ..., \"pin\": ...}]")
        let (keys, keyNames) = keyList.map { self.keys($0) } ?? ([], [])
        let certificateList = required(
            .certificates, of: members, in: root, "the plan", example: "[{\"name\": ..., \"keys\": [...]}]")
        let (certificates, names) = certificateList.map { self.certificates($0, keyNames) } ?? ([], [])
        let servers =
            required(.servers, of: members, in: root, "the plan", example: "[{\"host\": ...}]")
            .map { self.servers($0, names) } ?? []
        let apps =
            required(.apps, of: members, in: root, "the plan", example: "[{\"version\": ...}]")
            .map { self.apps($0) } ?? []
        let updates = members[.updates].map { self.updates($0) } ?? []
        guard problems.isEmpty, let until else { return nil }
        return RotationPlan(
            until: until, keys: keys, certificates: certificates, servers: servers,
            apps: apps.sorted { $0.released < $1.released }, updates: updates, policies: policies)
    }

    // MARK: Policies

    /// A file, which is read once however often it is named, or an object.
    mutating func policy(_ value: JSONValue, _ path: String) -> Int? {
        do throws(ToolError) {
            guard let name = value.string else { return add(try inline(value, path)) }
            if let known = filePolicies[name] { return known }
            filePolicies[name] = Int?.none
            let index = add(try policyFile(name))
            filePolicies[name] = index
            return index
        } catch {
            for var error in error.all.prefix(PlanLimits.problems) {
                error.others = []
                problems.append((value.offset, error))
            }
            return nil
        }
    }

    private mutating func add(_ policy: PinningPolicy) -> Int {
        policies.append(policy)
        return policies.count - 1
    }

    private mutating func inline(_ value: JSONValue, _ path: String) throws(ToolError) -> PinningPolicy {
        guard value.kind == .object else {
            throw .unusable(
                "wrong-type", "\(path) is \(value.kind.description)",
                hint: "write the path of a policy file, or the policy itself: {...}")
        }
        do {
            return try PinningPolicy(json: value, isPublicSuffix: PublicSuffixList.contains)
        } catch {
            // Lines of an inline policy are lines of the plan, whose name is added with the others'.
            let errors = error.problems.map { problem in
                ToolError.unusable(
                    problem.id, "\(path): \(problem.path.isEmpty ? "" : problem.path + ": ")\(problem.message)",
                    line: problem.line, column: problem.column, hint: problem.help)
            }
            throw .joining(errors) ?? .unusable("invalid-policy", "\(path) cannot be used")
        }
    }
}
