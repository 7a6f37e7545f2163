import Foundation
import FoundationNetworking

@testable import PintleURLSession

// The text of the table's lines. A value is omitted if it is that of a new task.

extension TaskStateMachine<Int> {
    /// The state in one line.
    var summary: String {
        let request = request.url?.path ?? ""
        let parts = [
            state.summary, request == "/first" ? nil : "request \(request)",
            response.map { "response \($0.summary)" },
            Self.summary("sent", progress.sent, of: progress.expectedToSend),
            Self.summary("received", progress.received, of: progress.expectedToReceive),
        ]
        return parts.compactMap(\.self).joined(separator: ", ")
    }

    private static func summary(_ name: String, _ count: Int64, of total: Int64) -> String? {
        (count, total) == (0, 0) ? nil : "\(name) \(count) of \(total)"
    }
}

extension TaskStateMachine<Int>.State {
    fileprivate var summary: String {
        switch self {
        case .idle(let suspensions, let isAdmitted): "idle \(suspensions)\(isAdmitted ? "" : ", not admitted")"
        case .live(let live): live.summary
        case .cancelling(let carrier): "cancelling \(carrier)"
        case .ended(.succeeded): "succeeded"
        case .ended(.failed(let error)): "failed \(error.summary)"
        }
    }
}

extension TaskStateMachine<Int>.Live {
    fileprivate var summary: String {
        let counts = [
            ("suspended", suspensions), ("redirects", redirects), ("supersessions", supersessions),
        ].filter { $0.1 > 0 }.map { "\($0) \($1)" }
        let parts = [step.summary] + counts + [authentication.summary].compactMap(\.self)
        return parts.joined(separator: ", ")
    }
}

extension TaskStateMachine<Int>.Step {
    fileprivate var summary: String {
        switch self {
        case .preparing(let hop): "preparing \(hop.summary)"
        case .awaitingStream(let hop): "awaitingStream of \(hop.summary)"
        case .transferring(let carrier, let hop, let stage): "\(stage.summary), \(carrier) of \(hop.summary)"
        }
    }
}

extension TaskStateMachine<Int>.Stage {
    fileprivate var summary: String {
        switch self {
        case .loading: "loading"
        case .storingCookies(let received): "storingCookies of \(received.response.statusCode)"
        case .asking(.redirect(let response)): "asking redirect \(response.statusCode)"
        case .asking(.credential(let pending)): "asking credential of \(pending.offers.count)"
        case .asking(.response): "asking response"
        case .accepting(let response, let isHeld): "accepting \(response.statusCode)\(isHeld ? " held" : "")"
        case .receiving: "receiving"
        case .discarding(let next, let count):
            "discarding before \(next.summary)\(count > 0 ? ", \(count) discarded" : "")"
        }
    }
}

extension TaskStateMachine<Int>.Action {
    var summary: String {
        switch self {
        case .keepTask: "keepTask"
        case .prepare(let hop): "prepare \(hop.summary)"
        case .prepareNext(let hop, let last): "prepareNext \(hop.summary) after \(last)"
        case .startCountdown: "startCountdown"
        case .askForStream(let hop): "askForStream \(hop.summary)"
        case .askAboutRedirect(let response, let next, let carrier):
            "askAboutRedirect \(carrier) \(response.statusCode) \(next.url?.path ?? "")"
        case .askForCredential(let pending, let carrier): "askForCredential \(carrier) of \(pending.offers.count)"
        case .askAboutResponse(let response, let carrier): "askAboutResponse \(carrier) \(response.summary)"
        case .showResponse(let response): "showResponse \(response.summary)"
        case .start(let carrier, let hop): "start \(carrier) \(hop.summary)"
        case .adjustSuspension(let carrier): "adjustSuspension \(carrier)"
        case .release(let carrier, let hold):
            "release \(carrier)" + (hold.contains(.answer) ? " answer" : "") + (hold.contains(.choice) ? " choice" : "")
        case .cancelTransfer(let carrier): "cancelTransfer \(carrier)"
        case .storeCookies(_, let carrier): "storeCookies \(carrier)"
        case .storeCredential: "storeCredential"
        case .accept(let response, let carrier): "accept \(carrier) \(response.statusCode)"
        case .finish(.succeeded): "finish"
        case .finish(.failed(let error)): "finish \(error.summary)"
        }
    }
}

extension AuthenticationState {
    /// The nonce, and the number of credentials given for its protection space.
    fileprivate var summary: String? {
        guard let authorization else { return nil }
        let nonce = if case .digest(let challenge) = authorization.offer { challenge.nonce } else { "basic" }
        let count = failureCount(in: authorization.space)
        return "authorized \(nonce)\(count > 0 ? ", given \(count)" : "")"
    }
}

extension Hop {
    fileprivate var summary: String {
        let suffix =
            switch content {
            case .none: ""
            case .data: " with data"
            case .file: " with file"
            case .stream: " with stream"
            case .refused: " refused"
            }
        return (request.url?.path ?? "") + suffix + (hasLeftOrigin ? " abroad" : "")
    }
}

extension URLResponse {
    fileprivate var summary: String { "\((self as? HTTPURLResponse)?.statusCode ?? 0)" }
}

extension URLError {
    fileprivate var summary: String {
        let path = failingURL?.path ?? ""
        return path == "/first" ? "\(errorCode)" : "\(errorCode) at \(path)"
    }
}
