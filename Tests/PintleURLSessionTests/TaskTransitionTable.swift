import Foundation
import FoundationNetworking

@testable import PintleURLSession

/// The actions and the next state for each event in each state. A pair without a row has no actions and keeps its state.
///
/// A row is `event: actions > next state`, under the line of its state. `-` stands for no actions.
enum TaskTransitionTable {
    private static let text = """
        notAdmitted
            admitted: - > idle 1
            resume: keepTask, finish -999 > failed -999
            suspend: - > idle 2, not admitted
            cancel: keepTask, finish -999 > failed -999
            data: discard > idle 1, not admitted
            muchData: discard > idle 1, not admitted
        idle
            resume: openContent > opening
            suspend: - > idle 2
            cancel: finish -999 > failed -999
            data: discard > idle 1
            muchData: discard > idle 1
        idleSuspended
            resume: - > idle 1
            suspend: - > idle 3
            cancel: finish -999 > failed -999
            data: discard > idle 2
            muchData: discard > idle 2
        opening
            suspend: - > opening, suspended 1
            cancel: finish -999 > failed -999
            opened: checkContent /first > checkingContent of /first
            failedToPrepare: finish -1000 > failed -1000
            data: discard > opening
            muchData: discard > opening
        checkingContent
            suspend: - > checkingContent of /first, suspended 1
            cancel: finish -999 > failed -999
            hasContent: makeTransfer /first > preparing /first
            lacksContent: startCountdown, askForStream > awaitingStream
            lacksContentUnasked: finish -1021 > failed -1021
            failedToPrepare: finish -1000 > failed -1000
            data: discard > checkingContent of /first
            muchData: discard > checkingContent of /first
        preparing
            suspend: - > preparing /first, suspended 1
            cancel: finish -999 > failed -999
            cached: finish > succeeded
            cachedInformed: showResponse, showContent, finish > succeeded
            cachedAsked: startCountdown, askAboutResponse cached > askingAboutCached
            made: start 1 > loading
            failedToPrepare: finish -1000 > failed -1000
            data: discard > preparing /first
            muchData: discard > preparing /first
        awaitingStream
            suspend: - > awaitingStream, suspended 1
            cancel: finish -999 > failed -999
            failedToPrepare: finish -1000 > failed -1000
            deadline: finish -1001 > failed -1001
            data: discard > awaitingStream
            muchData: discard > awaitingStream
            stream: checkContent /first with stream > checkingContent of /first with stream
            noStream: finish -1021 > failed -1021
        askingAboutCached
            suspend: - > askingAboutCached, suspended 1
            cancel: finish -999 > failed -999
            failedToPrepare: finish -1000 > failed -1000
            deadline: finish -1001 > failed -1001
            data: discard > askingAboutCached
            muchData: discard > askingAboutCached
            allowCached: showContent, finish > succeeded
            refuseCached: finish -1000 > failed -1000
        loading
            suspend: adjustSuspension > loading, suspended 1
            cancel: cancelTransfer > cancelling 1
            failed: finish -1000, cancelTransfer > failed -1000
            head: accept > accepting
            cookies: storeCookies > storingCookies
            cookiesAndRedirect: storeCookies > storingCookies
            redirect: askAboutRedirect /next > asking redirect
            redirectUnasked: - > passing to /next
            refusedRedirect: finish -1022, cancelTransfer > failed -1022
            challenge: askForCredential of 1 > asking credential of 1
            challengeTwice: askForCredential of 2 > asking credential of 2
            plain401: accept > accepting
            data: refuse > loading
            muchData: refuse > loading
            completed: finish -1005 > failed -1005
            timedOut: finish -1001 > failed -1001
            superseded: checkContent /first > checkingContent of /first
        loadingSuspended
            resume: adjustSuspension > loading
            suspend: - > loading, suspended 2
            cancel: cancelTransfer > cancelling 1
            failed: finish -1000, cancelTransfer > failed -1000
            head: accept > accepting, suspended 1
            cookies: storeCookies > storingCookies, suspended 1
            cookiesAndRedirect: storeCookies > storingCookies, suspended 1
            redirect: askAboutRedirect /next > asking redirect, suspended 1
            redirectUnasked: - > passing to /next, suspended 1
            refusedRedirect: finish -1022, cancelTransfer > failed -1022
            challenge: askForCredential of 1 > asking credential of 1, suspended 1
            challengeTwice: askForCredential of 2 > asking credential of 2, suspended 1
            plain401: accept > accepting, suspended 1
            data: refuse > loading, suspended 1
            muchData: refuse > loading, suspended 1
            completed: finish -1005 > failed -1005
            timedOut: finish -1001 > failed -1001
            superseded: checkContent /first > checkingContent of /first, suspended 1
        storingCookies
            suspend: adjustSuspension > storingCookies, suspended 1
            cancel: cancelTransfer > cancelling 1
            failed: finish -1000, cancelTransfer > failed -1000
            storedCookies: accept > accepting held
            data: refuse > storingCookies
            muchData: refuse > storingCookies
            completed: finish -1005 > failed -1005
            timedOut: finish -1001 > failed -1001
            superseded: finish -1200 > failed -1200
        askingRedirect
            suspend: adjustSuspension > asking redirect, suspended 1
            cancel: cancelTransfer > cancelling 1
            failed: finish -1000, cancelTransfer > failed -1000
            data: refuse > asking redirect
            muchData: refuse > asking redirect
            completed: finish -1005 > failed -1005
            timedOut: finish -1001 > failed -1001
            superseded: finish -1200 > failed -1200
            follow: release answer choice > passing to /chosen
            noRedirect: accept > accepting held
            downgrade: finish -1022, cancelTransfer > failed -1022
        askingCredential
            suspend: adjustSuspension > asking credential of 1, suspended 1
            cancel: cancelTransfer > cancelling 1
            failed: finish -1000, cancelTransfer > failed -1000
            data: refuse > asking credential of 1
            muchData: refuse > asking credential of 1
            completed: finish -1005 > failed -1005
            timedOut: finish -1001 > failed -1001
            superseded: finish -1200 > failed -1200
            credential: release answer choice > passing to /first
            noCredential: accept > accepting held
            nextOffer: accept > accepting held
        askingTwoOffers
            suspend: adjustSuspension > asking credential of 2, suspended 1
            cancel: cancelTransfer > cancelling 1
            failed: finish -1000, cancelTransfer > failed -1000
            data: refuse > asking credential of 2
            muchData: refuse > asking credential of 2
            completed: finish -1005 > failed -1005
            timedOut: finish -1001 > failed -1001
            superseded: finish -1200 > failed -1200
            credential: release answer choice > passing to /first
            noCredential: accept > accepting held
            nextOffer: askForCredential of 1 > asking credential of 1
        accepting
            suspend: adjustSuspension > accepting, suspended 1
            cancel: cancelTransfer > cancelling 1
            failed: finish -1000, cancelTransfer > failed -1000
            accepted: - > receiving
            acceptedInformed: showResponse > receiving
            acceptedAsked: askAboutResponse > asking response
            data: refuse > accepting
            muchData: refuse > accepting
            completed: finish -1005 > failed -1005
            timedOut: finish -1001 > failed -1001
            superseded: finish -1200 > failed -1200
        acceptingHeld
            suspend: adjustSuspension > accepting held, suspended 1
            cancel: cancelTransfer > cancelling 1
            failed: finish -1000, cancelTransfer > failed -1000
            accepted: release answer choice > receiving
            acceptedInformed: showResponse, release answer choice > receiving
            acceptedAsked: askAboutResponse, release choice > asking response
            data: refuse > accepting held
            muchData: refuse > accepting held
            completed: finish -1005 > failed -1005
            timedOut: finish -1001 > failed -1001
            superseded: finish -1200 > failed -1200
        askingResponse
            suspend: adjustSuspension > asking response, suspended 1
            cancel: cancelTransfer > cancelling 1
            failed: finish -1000, cancelTransfer > failed -1000
            data: refuse > asking response
            muchData: refuse > asking response
            completed: finish -1005 > failed -1005
            timedOut: finish -1001 > failed -1001
            superseded: finish -1200 > failed -1200
            allow: release answer > receiving
            refuse: finish -1000, cancelTransfer > failed -1000
        receiving
            suspend: adjustSuspension > receiving, suspended 1
            cancel: cancelTransfer > cancelling 1
            failed: finish -1000, cancelTransfer > failed -1000
            data: keep > receiving
            muchData: keep > receiving
            completed: storeResponse, finish > succeeded
            timedOut: finish -1001 > failed -1001
            superseded: finish -1200 > failed -1200
        passing
            suspend: adjustSuspension > passing to /next, suspended 1
            cancel: cancelTransfer > cancelling 1
            failed: finish -1000, cancelTransfer > failed -1000
            data: discard > passing to /next, 100 discarded
            muchData: refuse > passing to /next, 262145 discarded
            completed: checkContent /next > checkingContent of /next
            timedOut: checkContent /next > checkingContent of /next
            superseded: checkContent /next > checkingContent of /next
        cancelling
            data: discard > cancelling 1
            muchData: discard > cancelling 1
            completed: finish -999 > failed -999
            timedOut: finish -999 > failed -999
            superseded: finish -999 > failed -999
        succeeded
            data: discard > succeeded
            muchData: discard > succeeded
        failed
            data: discard > failed -1001
            muchData: discard > failed -1001
        """

    private static let rows: [String: String] = {
        var rows: [String: String] = [:]
        var situation = ""
        for line in text.split(separator: "\n") {
            guard line.hasPrefix("    ") else {
                situation = line.trimmingCharacters(in: .whitespaces)
                continue
            }
            let parts = line.split(separator: ":", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            rows["\(situation) \(parts[0])"] = parts[1]
        }
        return rows
    }()

    static var keys: [(String, String)] {
        rows.keys.map { key in
            let words = key.split(separator: " ").map(String.init)
            return (words[0], words[1])
        }
    }

    static func row(_ situation: TaskSituation, _ event: TaskEvent) -> String? {
        rows["\(situation.rawValue) \(event.rawValue)"]
    }
}

extension TaskStateMachine<Int> {
    /// The state in one line.
    var summary: String {
        switch state {
        case .idle(let suspensions, let isAdmitted): return "idle \(suspensions)\(isAdmitted ? "" : ", not admitted")"
        case .cancelling(let carrier): return "cancelling \(carrier)"
        case .ended(.succeeded): return "succeeded"
        case .ended(.failed(let error)): return "failed \(error.errorCode)"
        case .live(let live):
            return "\(Self.summary(live.step))\(live.suspensions > 0 ? ", suspended \(live.suspensions)" : "")"
        }
    }

    private static func summary(_ step: Step) -> String {
        switch step {
        case .opening: return "opening"
        case .checkingContent(let hop): return "checkingContent of \(hop.summary)"
        case .preparing(let hop): return "preparing \(hop.summary)"
        case .awaitingStream: return "awaitingStream"
        case .askingAboutCached: return "askingAboutCached"
        case .transferring(_, _, let stage):
            switch stage {
            case .loading: return "loading"
            case .storingCookies: return "storingCookies"
            case .asking(.redirect): return "asking redirect"
            case .asking(.credential(let pending)): return "asking credential of \(pending.offers.count)"
            case .asking(.response): return "asking response"
            case .accepting(_, let isHeld): return "accepting\(isHeld ? " held" : "")"
            case .receiving: return "receiving"
            case .passing(let next, let discarded):
                return "passing to \(next.summary)\(discarded > 0 ? ", \(discarded) discarded" : "")"
            }
        }
    }
}

extension TaskStateMachine<Int>.Action {
    var summary: String {
        switch self {
        case .keepTask: "keepTask"
        case .openContent: "openContent"
        case .checkContent(let hop): "checkContent \(hop.summary)"
        case .makeTransfer(let hop): "makeTransfer \(hop.summary)"
        case .startCountdown: "startCountdown"
        case .askForStream: "askForStream"
        case .askAboutRedirect(_, let next, _): "askAboutRedirect \(next.url?.path ?? "")"
        case .askForCredential(let pending, _): "askForCredential of \(pending.offers.count)"
        case .askAboutResponse(_, let carrier): "askAboutResponse\(carrier == nil ? " cached" : "")"
        case .showResponse: "showResponse"
        case .showContent: "showContent"
        case .start(let carrier, _): "start \(carrier)"
        case .adjustSuspension: "adjustSuspension"
        case .release(_, let hold):
            "release" + (hold.contains(.answer) ? " answer" : "") + (hold.contains(.choice) ? " choice" : "")
        case .cancelTransfer: "cancelTransfer"
        case .storeCookies: "storeCookies"
        case .storeCredential: "storeCredential"
        case .accept: "accept"
        case .storeResponse: "storeResponse"
        case .finish(.succeeded): "finish"
        case .finish(.failed(let error)): "finish \(error.errorCode)"
        }
    }
}

extension Hop {
    fileprivate var summary: String {
        let stream = if case .stream = content { " with stream" } else { "" }
        return (request.url?.path ?? "") + stream
    }
}
