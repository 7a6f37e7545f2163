import Foundation
import Network
import Pintle
import PintleApple
import PintleCrypto
import PintleTestKit
import Security
import Testing
import WebKit
import os

/// The parts that use other Apple modules.
@Suite("Apple: other modules")
struct SurfaceTests {
    private static func trust(_ chain: [[UInt8]]) throws -> SecTrust {
        try #require(try SessionFixture.challenge(chain).protectionSpace.serverTrust)
    }

    @Test("The policy in force decides about a connection of Network.framework, which resumes no TLS session")
    func network() throws {
        let fixture = try SessionFixture()
        let policy = LivePolicy(try fixture.policy())
        let reasons = Locked<[String]>([])
        let options = NWProtocolTLS.Options()
        #expect(options.securityProtocolOptions.isResumptionEnabled)
        options.decideTrust(of: ServerEndpoint(host: try ServerName("localhost")), by: policy) { evaluation in
            reasons.withLock { $0.append(evaluation.decision.reason) }
        }
        let options2 = options.securityProtocolOptions
        #expect(!options2.isResumptionEnabled)
        #expect(options2.verify(try Self.trust(fixture.identity.chain)) == true)
        policy.replace(with: try fixture.policy(rightPin: false))
        #expect(options2.verify(try Self.trust(fixture.identity.chain)) == false)
        #expect(options2.verify(try Self.trust(try SessionFixture().identity.chain)) == false)
        #expect(reasons.withLock { $0 } == ["pin-matched", "pin-mismatch", "invalid-path"])
    }

    @Test("A connection of Network.framework to an address that leads past the rules is refused")
    func networkAlias() throws {
        for (host, isTrusted) in [("0.0.0.0", false), ("::", false), ("::ffff:127.0.0.1", false), ("::1", true)] {
            let fixture = try SessionFixture(isSystem: true)
            let reasons = Locked<[String]>([])
            let options = NWProtocolTLS.Options()
            let server = ServerEndpoint(host: try ServerName(host))
            options.decideTrust(of: server, by: LivePolicy(try PinningPolicy(hosts: []))) { evaluation in
                reasons.withLock { $0.append(evaluation.decision.reason) }
            }
            let chain = try fixture.root.issue(hosts: [host]).chain
            let trust = try #require(try SessionFixture.challenge(chain, host: host).protectionSpace.serverTrust)
            #expect(options.securityProtocolOptions.verify(trust) == isTrusted)
            #expect(reasons.withLock { $0 } == [isTrusted ? "host-not-pinned" : "invalid-path"])
        }
    }

    @Test("An evaluator decides about a NetworkConnection and a WebPage, by the recipes of the article")
    @MainActor
    func newerSystems() async throws {
        let fixture = try SessionFixture()
        let server = ServerEndpoint(host: try ServerName("localhost"))
        for rightPin in [true, false] {
            let reasons = Locked<[String]>([])
            let evaluator = ServerTrustEvaluator(policy: try fixture.policy(rightPin: rightPin)).onFailure { event in
                reasons.withLock { $0.append(event.reason) }
            }
            let connection = NetworkConnection(to: .hostPort(host: "localhost", port: 443)) {
                TLS().ticketsEnabled(false).certificateValidator { _, reference in
                    let trust = sec_trust_copy_ref(reference).takeRetainedValue()
                    return await evaluator.evaluate(server, trust, at: Date()).decision.isTrusted
                }
            }
            #expect(!connection.stack.hasTickets)
            #expect(await connection.verify(try Self.trust(fixture.identity.chain)) == rightPin)
            let page = WebPage(navigationDecider: PageDecider(evaluator: evaluator))
            let (disposition, credential) = await page.ask(try SessionFixture.challenge(fixture.identity.chain))
            #expect(disposition == (rightPin ? .useCredential : .cancelAuthenticationChallenge))
            #expect((credential?.trust != nil) == rightPin)
            #expect(reasons.withLock { $0 } == (rightPin ? [] : ["pin-mismatch", "pin-mismatch"]))
        }
    }

    @Test("The README of the stand-ins names every function that has one")
    func documented() throws {
        var root = URL(fileURLWithPath: #filePath)
        for _ in 0..<3 { root.deleteLastPathComponent() }
        let table = try String(
            contentsOf: root.appendingPathComponent("Tests/StandIns/README.md"), encoding: .utf8)
        var names: [String] = []
        for part in ["Trust", "Keychain"] {
            let folder = root.appendingPathComponent("Tests/StandIns/Security/\(part)")
            for file in try FileManager.default.contentsOfDirectory(atPath: folder.path) where file.hasSuffix(".swift")
            {
                let text = try String(contentsOf: folder.appendingPathComponent(file), encoding: .utf8)
                for line in text.split(separator: "\n") where line.hasPrefix("public func ") {
                    names.append(String(line.dropFirst("public func ".count).prefix { $0 != "(" }))
                }
            }
        }
        #expect(names.count >= 19)
        for name in names { #expect(table.contains("`\(name)`"), "\(name)") }
    }

    @Test("The example app's web view loads nothing before its delegate is set, and nothing without a policy")
    func pageView() throws {
        var root = URL(fileURLWithPath: #filePath)
        for _ in 0..<3 { root.deleteLastPathComponent() }
        let text = try String(contentsOf: root.appendingPathComponent("Examples/App/PageView.swift"), encoding: .utf8)
        let places = ["else { return webView }", "webView.navigationDelegate = ", "webView.load("].map {
            text.components(separatedBy: $0)
        }
        // Each once, in this order.
        #expect(places.allSatisfy { $0.count == 2 })
        #expect(places.map { $0[0].count } == places.map { $0[0].count }.sorted())
    }

    @Test("The log has reasons, but no hosts and no certificates")
    func log() throws {
        let fixture = try SessionFixture()
        let category = UUID().uuidString
        let logger = Logger(subsystem: "test", category: category)
        let server = ServerEndpoint(host: try ServerName("localhost"))
        let good = ServerTrustEvaluator(policy: try fixture.policy())
        logger.log(good.evaluate(server, presented: fixture.identity.chain, at: Date()))
        logger.log(good.evaluate(server, presented: try SessionFixture().identity.chain, at: Date()))
        #expect(
            Logger.written(under: category) == [
                "debug trusted <private>: pin-matched",
                "error refused <private>: invalid-path untrusted-root <private>",
            ])
    }

    @Test("CryptoKit's hash matches FIPS 180-4")
    func hash() throws {
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        #expect(Hex.encode(PintleCrypto.SHA256Digest(hashing: Array("abc".utf8)).bytes) == expected)
    }

    @Test("CryptoKit's signatures match RFC 8032 section 7.1, and a signature with one changed bit is invalid")
    func signature() throws {
        let seed = try Hex.decode("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb")
        let key = try Hex.decode("3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c")
        let signature = try Hex.decode(
            "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
                + "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00")
        #expect(Ed25519.publicKey(ofSeed: seed) == key)
        #expect(Ed25519.signature(of: [0x72], seed: seed) == signature)
        #expect(Ed25519.isValid(signature: signature, of: [0x72], publicKey: key))
        #expect(!Ed25519.isValid(signature: signature, of: [0x73], publicKey: key))
        var other = signature
        other[0] ^= 1
        #expect(!Ed25519.isValid(signature: other, of: [0x72], publicKey: key))
        #expect(Ed25519.publicKey(ofSeed: [1]) == nil && Ed25519.signature(of: [], seed: [1]) == nil)
    }
}

/// The recipe for a `WebPage`.
private struct PageDecider: WebPage.NavigationDeciding {
    let evaluator: ServerTrustEvaluator

    func decideAuthenticationChallengeDisposition(
        for challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        let answer = await evaluator.evaluate(challenge)
        return (answer.disposition, answer.credential)
    }
}
