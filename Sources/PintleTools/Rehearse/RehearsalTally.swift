/// The number of results of each kind.
struct RehearsalTally {
    let run: Int
    let fine: Int
    let letThrough: Int
    let lockedOut: Int
    let inconclusive: Int

    init(_ results: [RehearsalResult]) {
        let results = results.filter { $0.outcome != .notRun }
        run = results.count
        fine = results.count(where: \.isAsItMustBe)
        letThrough = results.count { $0.outcome == .letThrough }
        lockedOut = results.count { $0.outcome == .blocked && !$0.isAsItMustBe }
        inconclusive = results.count { $0.outcome == .inconclusive }
    }

    /// The result in one sentence: `2 of 30 attacks were let through`
    var result: String {
        func some(_ count: Int, _ verb: String) -> String {
            "\(count) of \(ValidityText.counted(run, "attack")) \(count == 1 ? "was" : "were") \(verb)"
        }
        if letThrough > 0 { return some(letThrough, "let through") }
        if lockedOut > 0 {
            return "\(ValidityText.counted(lockedOut, "server")) that must be accepted "
                + (lockedOut == 1 ? "was blocked" : "were blocked")
        }
        if inconclusive > 0 { return some(inconclusive, "inconclusive") }
        return run == 1 ? "The attack ended as it must" : "All \(run) attacks ended as they must"
    }

    var sentence: String {
        var parts = ["\(fine) as they must be"]
        if letThrough > 0 { parts.append("\(letThrough) LET THROUGH") }
        if lockedOut > 0 { parts.append("\(lockedOut) wrongly blocked") }
        if inconclusive > 0 { parts.append("\(inconclusive) inconclusive") }
        return parts.joined(separator: ", ")
    }
}
