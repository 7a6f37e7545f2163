import Foundation
import FoundationNetworking
import Pintle

@testable import PintleURLSession

/// Every state of a task. Each is reached only by events.
enum TaskSituation: String, CaseIterable {
    case notAdmitted, idle, idleSuspended, preparing, preparingSuspended, preparingNext, preparingAgain, awaitingStream
    case loading, loadingSuspended, loadingAuthorized
    case storingCookies, storingCookiesOfRedirect, storingCookiesOfChallenge, storingCookiesOfStaleNonce,
        storingCookiesOfRefusal
    case askingRedirect, askingCredential, askingTwoOffers
    case accepting, acceptingHeld, askingResponse, receiving, discarding, discardingAtLimit, cancelling, succeeded,
        failed

    private var path: [TaskEvent] {
        switch self {
        case .notAdmitted: []
        case .idle: [.admitted]
        case .idleSuspended: Self.idle.path + [.suspend]
        case .preparing: Self.idle.path + [.resume]
        case .preparingSuspended: Self.preparing.path + [.suspend]
        case .preparingNext: Self.discarding.path + [.completed]
        case .preparingAgain: Self.preparing.path + [.openedWithData, .made, .sent, .superseded]
        case .awaitingStream: Self.preparing.path + [.lacksContent]
        case .loading: Self.preparing.path + [.opened, .made]
        case .loadingAuthorized: Self.preparing.path + [.opened, .madeAuthorized]
        case .loadingSuspended: Self.loading.path + [.suspend]
        case .storingCookies: Self.loading.path + [.cookies]
        case .storingCookiesOfRedirect: Self.loading.path + [.cookiesAndRedirect]
        case .storingCookiesOfChallenge: Self.loading.path + [.cookiesAndChallenge]
        case .storingCookiesOfStaleNonce: Self.loadingAuthorized.path + [.cookiesAndStaleChallenge]
        case .storingCookiesOfRefusal: Self.loading.path + [.cookiesAndRefusedRedirect]
        case .askingRedirect: Self.loading.path + [.redirect]
        case .askingCredential: Self.loading.path + [.challenge]
        case .askingTwoOffers: Self.loading.path + [.challengeTwice]
        case .accepting: Self.loading.path + [.head]
        case .acceptingHeld: Self.storingCookies.path + [.storedCookies]
        case .askingResponse: Self.accepting.path + [.acceptedAsked]
        case .receiving: Self.accepting.path + [.accepted]
        case .discarding: Self.loading.path + [.redirectUnasked]
        case .discardingAtLimit: Self.discarding.path + [.limitData]
        case .cancelling: Self.loading.path + [.cancel]
        case .succeeded: Self.receiving.path + [.completed]
        case .failed: Self.loading.path + [.timedOut]
        }
    }

    func machine() throws -> TaskStateMachine<Int> {
        var machine = TaskStateMachine<Int>(try TaskEvent.hop())
        for event in path { _ = try event.apply(to: &machine) }
        return machine
    }
}

/// Every event, in the forms that lead to different states. The transfer is 1 unless an event says otherwise.
enum TaskEvent: String, CaseIterable {
    case admitted, resume, suspend, cancel
    case opened, openedWithData, openedNext, lacksContent, lacksContentUnasked
    case made, madeAuthorized
    case failedToPrepare, failed, deadline
    case head, redirect, redirectUnasked, refusedRedirect, challenge, challengeTwice, staleChallenge, plain401
    case cookies, cookiesAndRedirect, cookiesAndChallenge, cookiesAndStaleChallenge, cookiesAndRefusedRedirect
    case storedCookies, storedCookiesUnasked, accepted, acceptedInformed, acceptedAsked
    case sent, data, limitData, muchData, completed, timedOut, superseded, unprocessed,
        otherCompleted
    case follow, noRedirect, downgrade, credential, noCredential, nextOffer, stream, noStream
    case allow, refuse, otherAllow

    static func request(_ text: String = "https://localhost/first") throws -> URLRequest {
        guard let url = URL(string: text) else { throw URLError(.badURL) }
        return URLRequest(url: url)
    }

    static func hop(_ text: String = "https://localhost/first", _ content: RequestContent = .none) throws -> Hop {
        Hop(request: try request(text), content: content)
    }

    /// Applies the event. Returns the actions in order, or the decision about a piece of content.
    func apply(to machine: inout TaskStateMachine<Int>) throws -> String {
        switch self {
        case .sent: machine.sent(7, over: 1) ? "counted" : ""
        case .data: "\(machine.receivedData(100, over: 1))"
        case .limitData: "\(machine.receivedData(TaskStateMachine<Int>.discardLimit, over: 1))"
        case .muchData: "\(machine.receivedData(TaskStateMachine<Int>.discardLimit + 1, over: 1))"
        default: try actions(&machine).map(\.summary).joined(separator: ", ")
        }
    }

    private func actions(_ machine: inout TaskStateMachine<Int>) throws -> [TaskStateMachine<Int>.Action] {
        let refusal = SessionError(.invalidRequest, "refused")
        switch self {
        case .admitted:
            machine.admitted()
            return []
        case .resume: return machine.resume(deadline: 60)
        case .suspend: return machine.suspend()
        case .cancel: return machine.cancel()
        case .opened: return machine.opened(try Self.hop())
        case .openedWithData: return machine.opened(try Self.hop("https://localhost/first", .data(Data([1, 2, 3]))))
        case .openedNext: return machine.opened(try Self.hop("https://localhost/next"))
        case .lacksContent: return machine.lacksContent(canAsk: true)
        case .lacksContentUnasked: return machine.lacksContent(canAsk: false)
        case .made: return machine.made(1, authorization: nil)
        case .madeAuthorized: return machine.made(1, authorization: try authorization())
        case .failedToPrepare: return machine.failed(.refused(refusal))
        case .failed: return machine.failed(.refused(refusal), over: 1)
        case .deadline: return machine.reachedDeadline()
        case .head, .redirect, .redirectUnasked, .refusedRedirect, .challenge, .challengeTwice, .staleChallenge,
            .plain401,
            .cookies, .cookiesAndRedirect, .cookiesAndChallenge, .cookiesAndStaleChallenge, .cookiesAndRefusedRedirect:
            return machine.receivedHead(try received(), over: 1, canAsk: self != .redirectUnasked)
        case .storedCookies: return machine.storedCookies(over: 1, canAsk: true)
        case .storedCookiesUnasked: return machine.storedCookies(over: 1, canAsk: false)
        case .accepted: return machine.accepted(over: 1, by: .none)
        case .acceptedInformed: return machine.accepted(over: 1, by: .informed)
        case .acceptedAsked: return machine.accepted(over: 1, by: .asked)
        case .sent, .data, .limitData, .muchData: return []
        case .completed: return machine.completed(1, nil, at: 1)
        case .timedOut: return machine.completed(1, .timedOut, at: 1)
        case .superseded: return machine.completed(1, .superseded, at: 1)
        case .unprocessed: return machine.completed(1, .unprocessed("", refusals: 0), at: 1)
        case .otherCompleted: return machine.completed(2, nil, at: 1)
        case .follow: return machine.answered(.redirect(try Self.request("https://localhost/chosen")), about: 1)
        case .noRedirect: return machine.answered(.redirect(nil), about: 1)
        case .downgrade: return machine.answered(.redirect(try Self.request("http://localhost/")), about: 1)
        case .credential: return machine.answered(.credential(try authorization()), about: 1)
        case .noCredential: return machine.answered(.noCredential, about: 1)
        case .nextOffer: return machine.answered(.nextOffer, about: 1)
        case .stream: return machine.answered(.stream(BodyStream(InputStream(data: Data([1])))), about: nil)
        case .noStream: return machine.answered(.stream(nil), about: nil)
        case .allow: return machine.answered(.allow, about: 1)
        case .refuse: return machine.answered(.refuse(refusal), about: 1)
        case .otherAllow: return machine.answered(.allow, about: 2)
        }
    }

    func authorization() throws -> Authorization {
        let url = try CurlURL("https://localhost/first")
        guard let offer = AuthenticationOffer.offers(in: [Self.digest(nonce: "first")]).first else {
            throw URLError(.userAuthenticationRequired)
        }
        return Authorization(
            URLCredential(user: "user", password: "password", persistence: .none), for: offer,
            in: offer.protectionSpace(of: url), at: url)
    }

    private static func digest(nonce: String) -> String { "Digest realm=\"b\", nonce=\"\(nonce)\", qop=\"auth\"" }

    /// Returns the response of the event to a request; without one, to the first.
    func received(by given: URLRequest? = nil) throws -> ReceivedResponse {
        var head = ResponseHead(status: 200, version: "HTTP/1.1")
        switch self {
        case .redirect, .redirectUnasked, .cookiesAndRedirect: head.fields = [("Location", "/next")]
        case .refusedRedirect, .cookiesAndRefusedRedirect: head.fields = [("Location", "http://localhost/")]
        case .challenge, .cookiesAndChallenge: head.fields = [("WWW-Authenticate", "Basic realm=\"a\"")]
        case .challengeTwice:
            let values = ["Basic realm=\"a\"", Self.digest(nonce: "other")]
            head.fields = values.map { ("WWW-Authenticate", FieldValue($0)) }
        case .staleChallenge, .cookiesAndStaleChallenge:
            head.fields = [("WWW-Authenticate", "\(Self.digest(nonce: "second")), stale=true")]
        default: break
        }
        if let name = head.fields.first?.name { head.status = name == "Location" ? 302 : 401 }
        if self == .plain401 { head.status = 401 }
        let request = try given ?? Self.request()
        guard let url = request.url, let response = PinnedHTTPURLResponse(head, url: url) else {
            throw URLError(.badServerResponse)
        }
        let server = try CurlURL(url.absoluteString)
        head.fields.append(("Set-Cookie", "a=b"))
        let cookies =
            rawValue.hasPrefix("cookies") ? CookieJar(for: head, from: server, to: request, under: .default) : nil
        return ReceivedResponse(response, from: server, to: request, cookies: cookies)
    }
}
