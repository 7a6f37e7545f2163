internal import Pintle
internal import PintleConsole
internal import PintlePolicyFile
internal import PintlePolicyLint
internal import PintleSystem

/// Reads a plan file value by value and goes on after a mistake, so that all mistakes are reported at once.
struct PlanReader: ValueReader {
    /// Reads a policy file by its path in the plan.
    private let policyFile: (String) throws(ToolError) -> PinningPolicy
    /// Reads the pins of an Info.plist by its path in the plan.
    private let infoPlistFile: (String) throws(ToolError) -> InfoPlistPins?
    private let isPublicSuffix: (String) -> Bool
    var problems: [ValueProblem] = []
    private var policies: [PinningPolicy] = []
    /// The policies by path; `nil` for unreadable files, which are reported only once.
    private var filePolicies: [String: Int?] = [:]
    /// The certificates that stand for renewal patterns. They follow those of the plan's list.
    var renewals: [RotationPlan.Certificate] = []
    /// The number of servers, counted once for each authority.
    var cases = 0

    /// - Parameters:
    ///   - file: the name of the plan in errors.
    ///   - isPublicSuffix: returns whether registries hand out names directly below this one.
    ///   - infoPlistFile: reads the pins of an Info.plist that the plan names by its path.
    ///   - policyFile: reads a policy that the plan names by its path.
    /// - Throws: every problem with its place, in the order of the file; at most 100.
    static func read(
        _ bytes: [UInt8], file: String, isPublicSuffix: @escaping (String) -> Bool,
        infoPlistFile: @escaping (String) throws(ToolError) -> InfoPlistPins? = { _ in nil },
        policyFile: @escaping (String) throws(ToolError) -> PinningPolicy
    ) throws(ToolError) -> RotationPlan {
        var reader = PlanReader(
            policyFile: policyFile, infoPlistFile: infoPlistFile, isPublicSuffix: isPublicSuffix)
        // A number with decimals is an error of its key, with the key's remedy. Policies inside the plan add levels.
        let limits = JSONDocument.Limits(maximumBytes: PlanLimits.fileSize, maximumDepth: 20, allowsAnyNumber: true)
        return try ToolError.translating { () throws(ValueProblems) in
            try reader.document(bytes, limits, file: file, called: "the plan", unusable: "invalid-plan") {
                $0.plan($1)
            }
        }
    }

    private mutating func plan(_ root: JSONValue) -> RotationPlan? {
        guard let fields = fields(of: root, as: PlanKeys.Plan.self, "the plan", isDocument: true) else { return nil }
        _ = required(.version, of: fields, example: "1") {
            $0.integer($1, in: 1...1, id: "unsupported-version", $2)
        }
        let until = required(.until, of: fields, example: "\"2027-12-01\"") { $0.date($1, $2) }
        let (keys, keyNames) =
            required(.keys, of: fields, example: "[{\"name\": ..., \"pin\": ...}]") { $0.keys($1, $2) } ?? ([], [])
        let (certificates, names) =
            required(.certificates, of: fields, example: "[{\"name\": ..., \"keys\": [...]}]") {
                $0.certificates($1, keyNames, $2)
            } ?? ([], [])
        let servers =
            required(.servers, of: fields, example: "[{\"host\": ...}]") {
                $0.servers($1, certificates, names, keyNames, until: until, $2)
            } ?? []
        let apps = required(.apps, of: fields, example: "[{\"version\": ...}]") { $0.apps($1, $2) } ?? []
        let updates = optional(.updates, of: fields) { $0.updates($1, $2) } ?? []
        let daysToFetch = optional(.daysToFetch, of: fields) {
            $0.integer($1, in: 0...Int64(PlanLimits.days), id: "invalid-day", $2)
        }
        guard problems.isEmpty, let until else { return nil }
        return RotationPlan(
            until: until, keys: keys + (renewals.isEmpty ? [] : [Self.keyMadeLater]),
            certificates: certificates + renewals, servers: servers,
            apps: apps.sorted { $0.released < $1.released }, updates: updates, daysToFetch: daysToFetch,
            policies: policies)
    }

    /// Returns the pins of an Info.plist.
    mutating func infoPlist(_ value: JSONValue, _ path: String) -> InfoPlistPins?? {
        guard let name = string(value, path) else { return nil }
        do throws(ToolError) {
            return try infoPlistFile(name)
        } catch {
            add(error, at: value)
            return nil
        }
    }

    // MARK: Policies

    /// Returns the index of a policy, which is a path or an object. Each file is read only once.
    mutating func policy(_ value: JSONValue, _ path: String) -> Int? {
        do throws(ToolError) {
            guard let name = value.string else { return add(try inline(value, path)) }
            if let known = filePolicies[name] { return known }
            filePolicies[name] = Int?.none
            let index = add(try policyFile(name))
            filePolicies[name] = index
            return index
        } catch {
            add(error, at: value)
            return nil
        }
    }

    /// Adds the errors of a file that the plan names.
    private mutating func add(_ error: ToolError, at value: JSONValue) {
        problems += error.all.prefix(ValueLimits.problems).map { error in
            ValueProblem(
                at: value.offset, error.code, error.message, help: error.hint, file: error.file, line: error.line,
                column: error.column)
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
            return try PinningPolicy(json: value, isPublicSuffix: isPublicSuffix)
        } catch {
            // The lines of an inline policy are lines of the plan. The plan's name is added later, as for all errors.
            let errors = error.problems.map { problem in
                ToolError.unusable(
                    problem.id, "\(path): \(problem.path.isEmpty ? "" : problem.path + ": ")\(problem.message)",
                    line: problem.line, column: problem.column, hint: problem.help)
            }
            throw .joining(errors) ?? .unusable("invalid-policy", "\(path) cannot be used")
        }
    }
}
