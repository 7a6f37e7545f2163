public import PintleEvents

extension TrustEventRecorder {
    /// The reports that the recorded verdicts would produce, even for rules without an address.
    public var reports: [TrustFailureReport] {
        verdicts.compactMap { TrustFailureReport($0) }
    }
}
