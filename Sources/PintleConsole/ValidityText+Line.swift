package import Pintle
package import PintleSystem
package import PintleText

extension ValidityText {
    /// `2026-11-20 to 2027-02-18, 90 days left`
    package static func period(_ validity: Validity, now: Date) -> Line {
        let days = "\(day(validity.notBefore)) to \(day(validity.notAfter)), "
        if now < validity.notBefore {
            return "\(days)\("begins in \(span(from: now, to: validity.notBefore))", .warning)"
        }
        guard validity.contains(now) else {
            return "\(days)\("ended \(span(from: validity.notAfter, to: now)) ago", .bad)"
        }
        let mark: Line.Mark? = isInLastThird(validity, now: now) ? .warning : nil
        return "\(days)\("\(span(from: now, to: validity.notAfter)) left", mark)"
    }
}
