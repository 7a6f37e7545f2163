/// The users of each version that lose a server, over the time of a simulation.
struct PlanLosses {
    /// The shares by app and sample. Each instant has two samples: at it, and half-way to the next.
    let shares: [[UserShare]]

    private func total(_ sample: Int) -> UserShare { shares.reduce(.none) { $0 + $1[sample] } }

    /// The most of all versions together from an instant to the next.
    func total(during index: Int) -> UserShare { max(total(2 * index), total(2 * index + 1)) }

    /// Returns `true` if a version loses less than in `other`, and none loses more.
    func isBetter(than other: PlanLosses) -> Bool { !isWorse(than: other) && other.isWorse(than: self) }

    /// Returns `true` if a version loses more at some time than in `other`.
    func isWorse(than other: PlanLosses) -> Bool {
        zip(shares, other.shares).contains { own, other in zip(own, other).contains { $0 > $1 } }
    }

    /// Versions that lose more than they do in `other` while all together lose more than is tolerated.
    func losers(against other: PlanLosses, tolerance: UserShare) -> [Int] {
        let serious = (shares.first ?? []).indices.filter { total($0) > tolerance }
        return shares.indices.filter { app in serious.contains { shares[app][$0] > other.shares[app][$0] } }
    }
}
