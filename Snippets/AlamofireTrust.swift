// Alamofire's requests on Apple's systems, with a policy that decides about their servers.

// `make test-apple` compiles and runs these lines in tests, with stand-ins for Alamofire and Apple's modules.
#if PINTLE_ALAMOFIRE
// snippet.evaluator
import Alamofire
import Foundation
import PintleURLSession
import Security

// Sendable: what it adds never changes.
final class PolicyTrust: ServerTrustManager, ServerTrustEvaluating, @unchecked Sendable {
    private let source: any PolicySource

    init(_ source: any PolicySource) {
        self.source = source
        super.init(evaluators: [:])
    }

    override func serverTrustEvaluator(forHost host: String) throws -> (any ServerTrustEvaluating)? { self }

    func evaluate(_ trust: SecTrust, forHost host: String) throws {
        let (snapshot, server) = (source.current, ServerEndpoint(host: try ServerName(host)))
        guard snapshot.policy.hosts.allSatisfy({ $0.port == nil }) else {
            throw TrustRejection.invalidPath(PathFailure(.other, text: "a rule names a port, and Alamofire does not"))
        }
        let evaluation = ServerTrustEvaluator(snapshot).evaluate(server, trust, at: Date())
        if case .rejected(let rejection) = evaluation.decision { throw rejection }
    }
}
// snippet.end

func evaluatedSession(_ policy: LivePolicy) -> Session {
    // snippet.session
    let session = Session(serverTrustManager: PolicyTrust(policy))
    // snippet.end
    return session
}

func delegatedSession(_ policy: LivePolicy) -> Session {
    // snippet.delegate
    let rootQueue = DispatchQueue(label: "com.example.app.alamofire")
    let delegateQueue = OperationQueue()
    delegateQueue.underlyingQueue = rootQueue
    delegateQueue.maxConcurrentOperationCount = 1
    let configuration = URLSessionConfiguration.af.default
    configuration.protocolClasses = []
    configuration.urlCache = nil
    let delegate = SessionDelegate()
    let pinning = PinningSessionDelegate(policy, forwardingTo: delegate)
    let session = Session(
        session: URLSession(configuration: configuration, delegate: pinning, delegateQueue: delegateQueue),
        delegate: delegate, rootQueue: rootQueue)
    // snippet.end
    return session
}
#endif
