import Foundation
import FoundationNetworking
import Pintle

@testable import PintleURLSession

/// Every state of a task, reached by events only.
enum TaskSituation: String, CaseIterable {
    case notAdmitted, idle, idleSuspended, opening, checkingContent, preparing, awaitingStream, askingAboutCached
    case loading, loadingSuspended, storingCookies, askingRedirect, askingCredential, askingTwoOffers
    case accepting, acceptingHeld, askingResponse, receiving, passing, cancelling, succeeded, failed

    private var path: [TaskEvent] {
        switch self {
        case .notAdmitted: []
        case .idle: [.admitted]
        case .idleSuspended: Self.idle.path + [.suspend]
        case .opening: Self.idle.path + [.resume]
        case .checkingContent: Self.opening.path + [.opened]
        case .preparing: Self.checkingContent.path + [.hasContent]
        case .awaitingStream: Self.checkingContent.path + [.lacksContent]
        case .askingAboutCached: Self.preparing.path + [.cachedAsked]
        case .loading: Self.preparing.path + [.made]
        case .loadingSuspended: Self.loading.path + [.suspend]
        case .storingCookies: Self.loading.path + [.cookies]
        case .askingRedirect: Self.loading.path + [.redirect]
        case .askingCredential: Self.loading.path + [.challenge]
        case .askingTwoOffers: Self.loading.path + [.challengeTwice]
        case .accepting: Self.loading.path + [.head]
        case .acceptingHeld: Self.storingCookies.path + [.storedCookies]
        case .askingResponse: Self.accepting.path + [.acceptedAsked]
        case .receiving: Self.accepting.path + [.accepted]
        case .passing: Self.loading.path + [.redirectUnasked]
        case .cancelling: Self.loading.path + [.cancel]
        case .succeeded: Self.receiving.path + [.completed]
        case .failed: Self.loading.path + [.timedOut]
        }
    }

    func machine() throws -> TaskStateMachine<Int> {
        var machine = TaskStateMachine<Int>(try TaskEvent.request())
        for event in path { _ = try event.apply(to: &machine) }
        return machine
    }
}

/// Every event, in the forms that lead to different states. The transfer is 1, where an event does not say another.
enum TaskEvent: String, CaseIterable {
    case admitted, resume, suspend, cancel
    case opened, hasContent, lacksContent, lacksContentUnasked, cached, cachedInformed, cachedAsked, made
    case failedToPrepare, failed, deadline
    case head, cookies, cookiesAndRedirect, redirect, redirectUnasked, refusedRedirect, challenge, challengeTwice,
        plain401
    case storedCookies, accepted, acceptedInformed, acceptedAsked
    case data, muchData, completed, timedOut, superseded, otherCompleted
    case follow, noRedirect, downgrade, credential, noCredential, nextOffer, stream, noStream
    case allow, refuse, allowCached, refuseCached, otherAllow

    static func request(_ text: String = "https://localhost/first") throws -> URLRequest {
        guard let url = URL(string: text) else { throw URLError(.badURL) }
        return URLRequest(url: url)
    }

    /// Returns the actions, in order, or what becomes of a piece of content.
    func apply(to machine: inout TaskStateMachine<Int>) throws -> String {
        switch self {
        case .data: "\(machine.receivedData(100, over: 1))"
        case .muchData: "\(machine.receivedData(TaskStateMachine<Int>.discardLimit + 1, over: 1))"
        default: try actions(&machine).map(\.summary).joined(separator: ", ")
        }
    }

    private func actions(_ machine: inout TaskStateMachine<Int>) throws -> [TaskStateMachine<Int>.Action] {
        let refusal = SessionRefusal(.invalidRequest, "refused")
        switch self {
        case .admitted:
            machine.admitted()
            return []
        case .resume: return machine.resume(deadline: 60)
        case .suspend: return machine.suspend()
        case .cancel: return machine.cancel()
        case .opened: return machine.opened(Hop(request: try Self.request(), content: .none))
        case .hasContent: return machine.hasContent()
        case .lacksContent: return machine.lacksContent(canAsk: true)
        case .lacksContentUnasked: return machine.lacksContent(canAsk: false)
        case .cached: return machine.foundInCache(try cachedResponse(), by: .none)
        case .cachedInformed: return machine.foundInCache(try cachedResponse(), by: .informed)
        case .cachedAsked: return machine.foundInCache(try cachedResponse(), by: .asked)
        case .made: return machine.made(1, authorization: nil)
        case .failedToPrepare: return machine.failed(.refused(refusal))
        case .failed: return machine.failed(.refused(refusal), over: 1)
        case .deadline: return machine.reachedDeadline()
        case .head, .cookies, .cookiesAndRedirect, .redirect, .redirectUnasked, .refusedRedirect, .challenge,
            .challengeTwice, .plain401:
            return machine.receivedHead(try reception(), over: 1, canAsk: self != .redirectUnasked)
        case .storedCookies: return machine.storedCookies(over: 1, canAsk: true)
        case .accepted: return machine.accepted(over: 1, by: .none)
        case .acceptedInformed: return machine.accepted(over: 1, by: .informed)
        case .acceptedAsked: return machine.accepted(over: 1, by: .asked)
        case .data, .muchData: return []
        case .completed: return machine.completed(1, nil)
        case .timedOut: return machine.completed(1, .timedOut)
        case .superseded: return machine.completed(1, .superseded)
        case .otherCompleted: return machine.completed(2, nil)
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
        case .allowCached: return machine.answered(.allow, about: nil)
        case .refuseCached: return machine.answered(.refuse(refusal), about: nil)
        case .otherAllow: return machine.answered(.allow, about: 2)
        }
    }

    private func cachedResponse() throws -> CachedURLResponse {
        CachedURLResponse(response: try reception().response, data: Data([1, 2, 3]))
    }

    private func authorization() throws -> Authorization {
        let url = try CurlURL("https://localhost/first")
        let offer = AuthenticationOffer.basic(realm: "a")
        return Authorization(
            URLCredential(user: "user", password: "password", persistence: .none), for: offer,
            in: offer.protectionSpace(of: url), at: url)
    }

    private func reception() throws -> Reception {
        var head = ResponseHead(status: 200, version: "HTTP/1.1")
        switch self {
        case .redirect, .redirectUnasked, .cookiesAndRedirect, .refusedRedirect:
            head.status = 302
            head.fields = [("Location", self == .refusedRedirect ? "http://localhost/" : "/next")]
        case .challenge, .challengeTwice, .plain401:
            head.status = 401
            let challenges = ["Basic realm=\"a\"", "Digest realm=\"b\", nonce=\"n\", qop=\"auth\""]
            head.fields = challenges.prefix(self == .challenge ? 1 : self == .challengeTwice ? 2 : 0).map {
                ("WWW-Authenticate", $0)
            }
        default: break
        }
        let request = try Self.request()
        guard let url = request.url, let response = PinnedHTTPURLResponse(head, url: url) else {
            throw URLError(.badServerResponse)
        }
        return Reception(
            head, response, from: try CurlURL(url.absoluteString), to: request,
            setsCookies: self == .cookies || self == .cookiesAndRedirect)
    }
}
