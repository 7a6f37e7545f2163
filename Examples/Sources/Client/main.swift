import ClientModel
import Foundation

// Client URL POLICY.json FOLDER: loads a page, and asks the user about a server without a trusted certificate.
guard CommandLine.arguments.count == 4, let url = URL(string: CommandLine.arguments[1]) else {
    print("usage: Client URL POLICY.json FOLDER")
    exit(2)
}
let json = try Array(Data(contentsOf: URL(fileURLWithPath: CommandLine.arguments[2])))
let client = try Client(policy: json, folder: CommandLine.arguments[3])
for _ in 0..<2 {
    switch await client.load(url) {
    case .page(let status, let text):
        print("\(status)\n\(text)")
        exit(0)
    case .refused(let reason, let story):
        print("refused: \(reason)\n\(story)")
        exit(1)
    case .failed(let text):
        print("failed: \(text)")
        exit(3)
    case .question(let question):
        print("\(question.server) has no trusted certificate: \(question.verdict)")
        let rows = question.fingerprint.split(separator: "\n").joined(separator: "\n              ")
        print("  of          \(question.subject)\n  fingerprint \(rows)")
        if let obstacle = question.obstacle {
            print("it cannot be approved: \(obstacle)")
            exit(1)
        }
        for exception in question.exceptions { print("ALSO: \(exception)") }
        if question.wasKnownWithAnotherKey { print("it was known with ANOTHER key") }
        if question.lostDecisions {
            print("EARLIER DECISIONS ARE LOST: this server may have been known with another certificate.")
            print("Ask its owner for the fingerprint again, then type \"approve despite loss\": ", terminator: "")
            guard readLine() == "approve despite loss" else { exit(1) }
            try client.approveDespiteLoss(question)
        } else {
            print("Is this the fingerprint that its owner told you? [yes/no] ", terminator: "")
            guard readLine() == "yes" else { exit(1) }
            try client.approve(question)
        }
    }
}
exit(1)
