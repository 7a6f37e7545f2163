public import URLLoading

/// A page for SwiftUI. It loads nothing. Its decider is asked by ``ask(_:)``, which Apple's class does not have.
@MainActor public final class WebPage {
    public struct Configuration {
        public init() {}
    }

    public protocol NavigationDeciding {
        @MainActor mutating func decideAuthenticationChallengeDisposition(
            for challenge: URLAuthenticationChallenge
        ) async -> (URLSession.AuthChallengeDisposition, URLCredential?)
    }

    private var decider: any NavigationDeciding

    public init(configuration: Configuration = Configuration(), navigationDecider: some NavigationDeciding) {
        decider = navigationDecider
    }

    public func ask(
        _ challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        var asked = decider
        defer { decider = asked }
        return await asked.decideAuthenticationChallengeDisposition(for: challenge)
    }
}

extension WebPage.NavigationDeciding {
    @MainActor public func decideAuthenticationChallengeDisposition(
        for challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        (.performDefaultHandling, nil)
    }
}
