internal import Pintle
internal import PintleConsole
internal import PintleOpenSSL
internal import PintlePolicyFile
internal import PintlePolicyTools
internal import PintleSuffixes
internal import PintleSystem

/// Decides about the cases of a batch, one line at a time.
struct BatchEvaluator {
    struct Answer {
        let json: JSONWriter
        /// A Boolean value that indicates whether the line could be read.
        let isVerdict: Bool
    }

    /// The instant of cases without `at`.
    private let now: Date
    private let pathOnly: PinningPolicy
    private let machine = PathValidator()
    // Policies and anchors are parsed once if consecutive cases repeat them.
    private var policies = RecentlyParsed<PinningPolicy>()
    private var validators = RecentlyParsed<PathValidator>()

    init(now: Date) throws(ToolError) {
        self.now = now
        pathOnly = try PinningPolicy.withoutRules()
    }

    mutating func answer(to line: LineReader.Line, number: Int) -> Answer {
        guard case .text(let bytes) = line else {
            let limit = EvaluateCommand.maximumLineLength >> 20
            return Self.refusal(
                .unusable("line-too-long", "the line is longer than \(limit) MiB", hint: "split the case"),
                id: nil, line: number)
        }
        let root: JSONValue
        do throws(JSONError) {
            let limits = JSONDocument.Limits(maximumBytes: EvaluateCommand.maximumLineLength, allowsAnyNumber: true)
            root = try JSONDocument(bytes, limits: limits).root
        } catch {
            return Self.refusal(
                .unusable(error.code.rawValue, error.message, at: error.place, hint: error.hint), id: nil, line: number)
        }
        do throws(ToolError) {
            return try verdict(on: BatchCase(root))
        } catch {
            return Self.refusal(error, id: root["id"], line: number)
        }
    }

    private mutating func verdict(on batchCase: BatchCase) throws(ToolError) -> Answer {
        let policy = try policy(batchCase.policy)
        let validator = try validator(batchCase.anchors)
        let decision: TrustDecision
        switch batchCase.chain {
        case .success(let chain):
            decision =
                policy.evaluate(
                    batchCase.endpoint, presented: chain, at: batchCase.instant ?? now, validate: validator.validate
                ).decision
        case .failure(let failure): decision = .rejected(.invalidPath(failure))
        }
        var json = JSONWriter(.compact)
        json.object { json in
            json.key("id")
            json.value(verbatim: batchCase.id.source)
            json.write(TrustDecision.facts, of: decision)
        }
        return Answer(json: json, isVerdict: true)
    }

    private mutating func policy(_ value: JSONValue?) throws(ToolError) -> PinningPolicy {
        guard let value else { return pathOnly }
        return try policies.value(of: value) { value throws(ToolError) in
            do throws(PolicyError) {
                return try PinningPolicy(json: value, isPublicSuffix: PublicSuffixList.system.contains)
            } catch {
                throw ToolError(inBatch: error)
            }
        }
    }

    private mutating func validator(_ anchors: JSONValue?) throws(ToolError) -> PathValidator {
        guard let anchors else { return machine }
        return try validators.value(of: anchors) { anchors throws(ToolError) in
            PathValidator(system: SystemAnchors(replacedBy: try BatchCase.anchors(anchors)))
        }
    }

    private static func refusal(_ problem: ToolError, id: JSONValue?, line: Int) -> Answer {
        var problem = problem
        problem.line = line
        var json = JSONWriter(.compact)
        json.object { json in
            json.key("id")
            if let id, BatchCase.isScalar(id) { json.value(verbatim: id.source) } else { json.null() }
            json.object("error", problem.write)
        }
        return Answer(json: json, isVerdict: false)
    }
}

/// The values that were parsed last, by their text.
struct RecentlyParsed<Value> {
    private static var capacity: Int { 16 }
    /// A longer text is parsed again each time, so that memory stays bounded.
    private static var longestText: Int { 1 << 20 }

    private var entries: [(text: ArraySlice<UInt8>, value: Value)] = []

    mutating func value<Failure: Error>(
        of json: JSONValue, make: (JSONValue) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let text = json.source
        if let known = entries.firstIndex(where: { $0.text == text }) {
            // The newest entry is the last.
            if known != entries.count - 1 { entries.append(entries.remove(at: known)) }
            return entries[entries.count - 1].value
        }
        let value = try make(json)
        if text.count <= Self.longestText {
            if entries.count == Self.capacity { entries.removeFirst() }
            // A copy, because the slice would keep the whole line in memory.
            entries.append((ArraySlice(Array(text)), value))
        }
        return value
    }
}
