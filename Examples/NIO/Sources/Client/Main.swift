import Foundation
import HTTPClient
import Pintle
import PintleNIO
import PintleOpenSSL
import PintleStorage

/// Makes one request to an https URL, with the policy of a file: `Client URL POLICY`.
@main
struct Main {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 3, let url = URL(string: arguments[1]) else { fail("usage: Client URL POLICY") }
        do {
            let server = try ServerEndpoint(url: url)
            let policy = try PinningPolicy(contentsOfFile: arguments[2])
            let tls = try PinnedTLS(policy: policy, timing: .init(handshake: .seconds(3))).onFailure {
                print("told: \($0.reason)")
            }
            let answer = try await PinnedHTTP(tls, limit: .seconds(3)).get("/", from: server)
            print(answer.status, answer.receipt.map { "\($0.basis)" } ?? "no receipt")
        } catch {
            fail("\(error)")
        }
    }

    private static func fail(_ text: String) -> Never {
        print(text)
        exit(1)
    }
}
