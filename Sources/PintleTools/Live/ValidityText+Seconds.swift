internal import PintleText

extension ValidityText {
    /// Returns seconds with one decimal: `14.2 s`
    static func seconds(_ duration: Duration) -> String {
        let tenths = Int((duration / .milliseconds(100)).rounded())
        return "\(tenths / 10).\(tenths % 10) s"
    }
}
