internal import Pintle
internal import PintleConsole
internal import PintlePolicyTools
internal import PintleSystem
internal import PintleText

/// The question to a person about a server that is not approved yet, with the facts that a decision needs.
///
/// As in ssh, the answer is a whole word. An empty answer means no, and so do two answers that cannot be understood and
/// the fingerprint of another certificate.
struct FirstContact {
    enum Answer: Equatable {
        case no
        case yes
        /// The person entered the fingerprint or the pin, and it is the server's.
        case compared
    }

    let host: UnknownHost
    let console: Console
    /// The input from the terminal.
    let input: ByteSource

    func ask() -> Answer {
        console.printMessage(facts)
        let questions = [
            "Trust this certificate for \(host.endpoint)? yes, no, or paste the fingerprint [no]: ",
            "Please type yes, no, or the fingerprint as its owner gave it to you [no]: ",
        ]
        for question in questions {
            // Input from before the question does not answer it.
            input.discardTyped()
            console.prompt(question)
            var reader = LineReader(input, limit: 4_096)
            if let answer = answer(Self.line(&reader)) { return answer }
        }
        return .no
    }

    /// Returns `nil` for a line that is not an answer.
    private func answer(_ line: String?) -> Answer? {
        guard let line else {
            // The input ended without a line break.
            console.printMessage()
            return .no
        }
        switch line.lowercased() {
        case "", "no": return .no
        case "yes": return .yes
        default: break
        }
        if let pin = try? CertificatePin(line) {
            return pin == host.leaf.fingerprint ? .compared : other("fingerprint")
        }
        if let pin = try? PublicKeyPin(line) { return pin == host.leaf.publicKeyPin ? .compared : other("key") }
        return nil
    }

    /// Returns no: a person who enters the fingerprint of another certificate knows that this is not the server they
    /// mean.
    private func other(_ what: String) -> Answer {
        console.printMessage(console.talk.bad("That is not the \(what) of this certificate."))
        return .no
    }

    /// Returns a line without the blanks around it; `nil` at the end of the input. A fingerprint in two rows is one
    /// answer.
    private static func line(_ reader: inout LineReader) -> String? {
        guard let first = text(&reader) else { return nil }
        guard let half = try? Hex.decode(first, allowingSeparators: true), half.count == 16 else { return first }
        return text(&reader).map { first + " " + $0 } ?? first
    }

    private static func text(_ reader: inout LineReader) -> String? {
        guard let line = try? reader.next() else { return nil }
        switch line {
        case .tooLong: return "?"
        case .text(let bytes): return String(decoding: bytes, as: UTF8.self).trimmed
        }
    }
}

// MARK: What a person has to know

extension FirstContact {
    private var facts: Report {
        let leaf = host.leaf
        var report = Report("\(Self.history(of: host)) \(Self.verdict(on: host))", "")
        report.layout.labelColumns = 13
        report.fact("subject", .name("\(leaf.subject)", besides: 15))
        if !leaf.isSelfIssued { report.fact("issuer", .name("\(leaf.issuer)", besides: 15)) }
        report.fact("names", .names(host.names.isEmpty ? ["(none)"] : host.names))
        if let purposes = CertificateFacts(leaf).purposes { report.fact("purposes", .names(purposes)) }
        report.fact(
            "valid", "\(ValidityText.day(leaf.validity.notBefore)) to \(ValidityText.day(leaf.validity.notAfter))")
        report.fact("key", "\(leaf.publicKey)  \(leaf.publicKeyPin)")
        let (first, second) = leaf.fingerprint.rows
        report.fact("fingerprint", ["\(first)", "\(second)"])
        if let previous = host.previous, host.wasKnownWithAnotherKey {
            report.fact("before", "\(ApprovalText.subject(previous))")
        }
        let exceptions = Self.exceptions(of: host)
        if !exceptions.isEmpty {
            report.gap()
            for sentence in exceptions { report.line("\(sentence, .warning)") }
            report.line("A yes accepts that for exactly this certificate, host and port.")
        }
        report.gap()
        report.line("Compare the fingerprint with one you got another way (its console, its owner).")
        return report
    }

    /// `First contact with nas.home.arpa:443.`
    static func history(of host: UnknownHost) -> String {
        guard let previous = host.previous else { return "First contact with \(host.endpoint)." }
        let other = host.wasKnownWithAnotherKey ? " It shows another certificate now." : ""
        if let revoked = previous.revokedAt {
            return "The approval of \(host.endpoint) was revoked \(ValidityText.day(revoked)).\(other)"
        }
        let end = previous.expiresAt.map { " \(ValidityText.day($0))" } ?? ""
        return "The approval of \(host.endpoint) has ended\(end).\(other)"
    }

    /// `The certificate is not for nas.home.arpa.`, `The certificate expired on 2026-01-01.`
    static func exceptions(of host: UnknownHost) -> [String] {
        TrustApproval.AcceptedFailure.ordered.filter(host.exceptionsOfCertificate.contains).map { failure in
            switch failure {
            case .nameMismatch: "The certificate is not for \(host.endpoint.host)."
            case .expired: "The certificate expired on \(ValidityText.day(host.leaf.validity.notAfter))."
            case .selfSigned, .untrustedRoot: "No authority vouches for the certificate."
            }
        }
    }

    /// `The system does not trust it: self-signed.`
    static func verdict(on host: UnknownHost) -> String {
        guard let failure = host.pathFailure else { return "The system trusts it." }
        return "The system does not trust it: \(failure.code.rawValue)."
    }
}
