internal import PintleAttacks
internal import PintleTestKit

/// Advice that follows from all outcomes together.
struct RehearsalAdvice {
    let lines: [String]

    init(_ outcomes: [Outcome], client: Client?) {
        let ids = { (verdict: Outcome.Verdict) in
            Set(
                outcomes.filter {
                    $0.verdict == verdict && !$0.isAsItMustBe
                        && ($0.scenario.id == "redirect-to-http" || !$0.wasInTheClear)
                }.map(\.scenario.id))
        }
        let (through, blocked) = (ids(.letThrough), ids(.blocked))
        var lines: [String] = []
        if !through.isDisjoint(with: ["untrusted-ca", "self-signed"]) {
            lines.append(
                "this client does not validate: anyone on its way to the server can read and change everything")
        } else if through.contains("trusted-interceptor") {
            var line = "this client validates but does not pin"
            if client?.words.first?.split(separator: "/").last == "curl" {
                line += "; with --pinnedpubkey '{pins}' interceptors get "
                line += client?.isTold.identity == true ? "no request" : "nothing"
            }
            lines.append(line)
        } else if through.contains("pinned-key-untrusted-ca") {
            lines.append(
                "this client pins but does not validate: a pin does not replace names, dates and the end of the path")
        } else if !through.isEmpty {
            lines.append("look at what was let through: 'pintle rehearse --list' names the standard behind each")
        }
        if outcomes.contains(where: { $0.wasInTheClear && $0.scenario.id != "redirect-to-http" }) {
            lines.append("it sends its request in the clear when TLS fails: remove that fallback")
        }
        if through.contains("redirect-to-http") {
            lines.append("it follows redirects to plain HTTP: let it follow only https")
        }
        if outcomes.contains(where: \.showedCertificate) {
            lines.append(
                "interceptors get its certificate: compare pins within the handshake, before the client sends it")
        }
        if blocked.contains("rotated-to-backup-key") {
            let isUntold = client.map { $0.isTold.pin && !$0.isTold.backup } ?? false
            lines.append(
                isUntold
                    ? "the command line has no backup pin: {backup} is one, and {pins} has both in curl's form"
                    : "the client does not know the backup key: losing the first key locks it out")
        }
        if blocked.contains("renewed-same-key") {
            lines.append("the client pins the certificate, not its key: every renewal locks it out")
        }
        if outcomes.contains(where: \.wasWaiting) {
            let longer = client == nil ? "" : " if it does, run it again with a longer --timeout;"
            lines.append(
                "does the client end by a time-out of its own?\(longer) if it has none, a server that stalls or never "
                    + "finishes holds it for ever")
        }
        let doubts = Set(outcomes.compactMap(\.doubt))
        if doubts.contains(.few), client == nil {
            lines.append("inconclusive: send the app to these servers once more; a second end without an alert decides")
        }
        if !doubts.isDisjoint(with: [.slow, .changed, .failedControl, .unread])
            || doubts.contains(.few) && client != nil
        {
            lines.append(
                "inconclusive: this client may only have given up; give it a longer time-out of its own, or a machine "
                    + "that is less busy")
        }
        if doubts.contains(.beside) {
            lines.append("inconclusive: let the client make one connection at a time, or leave out all but one --host")
        }
        if outcomes.contains(where: \.mayHaveRetried) {
            lines.append(Outcome.moreTime)
        }
        self.lines = lines
    }
}
