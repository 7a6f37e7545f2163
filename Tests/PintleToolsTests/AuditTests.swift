import FoundationEssentials
import Glibc
import Pintle
import PintleAttacks
import PintleTestKit
import Testing

@testable import PintlePolicyFile
@testable import PintleTools

@Suite("Audits")
struct AuditTests {
    private let scene: AuditFixture

    init() throws {
        scene = try AuditFixture()
    }

    @Test("Each kind of server gets its own verdict in one run, and bad servers do not affect good ones")
    func verdicts() throws {
        let good = try LoopbackTLSServer(scene.identity)
        let stranger = try LoopbackTLSServer(scene.stranger())
        let expired = try LoopbackTLSServer(
            scene.identity.renewed(by: scene.root) { $0.notAfter = .fromNow(seconds: -600) })
        let old = try LoopbackTLSServer(scene.identity) { $0.versions = .tls10 ... .tls11 }
        let plain = try LoopbackTCPServer { connection in
            try? connection.write(Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8))
            connection.stall(seconds: 60)
        }
        let hangsUp = try LoopbackTCPServer { _ = try? $0.read(upTo: 1) }
        let gone = try LoopbackTCPServer { _ in }
        gone.close()
        let list = try scene.list([
            ("a.audit.test", good.port), ("b.audit.test", stranger.port), ("c.audit.test", expired.port),
            ("d.audit.test", old.port), ("e.audit.test", plain.port), ("f.audit.test", hangsUp.port),
            ("h.audit.test", gone.port), ("other.test", good.port),
            ("z.audit.test:8443", good.port),
        ])
        let run = scene.audit(try scene.policy(), "--hosts", list, "--json", "--handshake-timeout", "60")
        #expect(run.code == 1)
        let records = try AuditFixture.records(run.output)
        #expect(
            records.mapValues(AuditFixture.verdict) == [
                "a.audit.test": "trusted pin-matched", "b.audit.test": "rejected pin-mismatch",
                "c.audit.test": "rejected invalid-path expired", "d.audit.test": "protocol-version",
                "e.audit.test": "not-tls", "f.audit.test": "closed-during-handshake",
                "h.audit.test": "connection-refused",
                "other.test": "rejected invalid-path name-mismatch", "z.audit.test": "trusted pin-matched",
            ])
        #expect(records["z.audit.test"]?["port"]?.integer == 8_443)
        #expect(run.errors.contains("9 servers: 2 trusted, 3 rejected, 4 not reached"))
        // The tool refuses a server with an alert and accepts one without. It sends neither a request.
        #expect(stranger.waitUntilClosed())
        #expect(stranger.alertsReceived.count == 1)
        #expect(good.waitUntilClosed(connections: 3))
        #expect(good.requestByteCount == 0)
    }

    @Test("An address that bypasses the rules for this machine is not judged, and the server beside it is")
    func alias() throws {
        let server = try LoopbackTLSServer(scene.identity)
        let list = try scene.list([
            ("0.0.0.0", server.port), ("[::]", server.port), ("[::ffff:127.0.0.1]", server.port),
            ("a.audit.test", server.port),
        ])
        let run = scene.audit(try scene.policy(), "--hosts", list, "--json")
        #expect(
            try AuditFixture.records(run.output).mapValues(AuditFixture.verdict) == [
                "0.0.0.0": "invalid-host", "::": "invalid-host", "::ffff:127.0.0.1": "invalid-host",
                "a.audit.test": "trusted pin-matched",
            ])
        #expect(server.waitUntilClosed())
        #expect(server.connectionCount == 1)
    }

    @Test("An audit decides as check does and finds the problems that lint finds")
    func sameAsTheOthers() throws {
        let spareIdentity = try scene.stranger()
        let policy = try scene.policy(backup: scene.pin(spareIdentity.certificate))
        for (identity, state) in [
            (scene.identity, "unused"), (spareIdentity, "matched"), (try scene.stranger(), "unused"),
        ] {
            let server = try LoopbackTLSServer(identity)
            let place = ["--connect-to", "127.0.0.1:\(server.port)", "--anchors", scene.anchors, "--json"]
            let check = try ToolRun(arguments: ["check", "https://x.audit.test", "--policy", policy] + place).json()
            let lint = try ToolRun(arguments: ["lint", policy, "--against", "x.audit.test"] + place).json()
            let run = scene.audit(policy, "x.audit.test", "--connect-to", "127.0.0.1:\(server.port)", "--json")
            let record = try #require(try AuditFixture.records(run.output)["x.audit.test"])
            for (mine, theirs) in [
                (record["decision"], check["decision"]), (record["reason"], check["reason"]),
                (record["rule"], check["rule"]), (record["matchedPin"], check["matchedPin"]),
                (record["nearestMiss"], check["nearestMiss"]),
            ] {
                #expect(mine?.string == theirs?.string)
            }
            #expect(record["backup"]?.string == state)
            let ids = { (root: JSONValue) in root["problems"]?.elements?.compactMap { $0["id"]?.string } ?? [] }
            #expect(ids(record) == ids(lint).filter { $0.hasPrefix("live-") })
            #expect(record["certificates"]?.elements?.compactMap { $0["position"]?.string } == ["leaf", "root"])
            #expect(record["connectTo"]?.string == "127.0.0.1:\(server.port)")
        }
    }

    @Test("Of servers with the same authorities, each result says which of them its server sends")
    func sharedAuthorities() throws {
        let authority = try scene.root.intermediate()
        let identity = try authority.issue(hosts: ["audit.test", "*.audit.test"], key: scene.identity.key)
        let expired = try identity.renewed(by: authority) { $0.notAfter = .fromNow(seconds: -600) }
        // A server sends the issuers except the last.
        let server = { (identity: Identity, more: MintedCertificate?) in
            try LoopbackTLSServer(
                Identity(
                    certificate: identity.certificate, key: identity.key,
                    issuers: [authority.certificate] + (more.map { [$0] } ?? []) + [scene.root.certificate]))
        }
        let short = try server(identity, nil)
        let long = try server(identity, scene.root.certificate)
        let late = try server(expired, scene.root.certificate)
        let odd = try server(identity, authority.certificate)
        let servers = [("short", short), ("long", long), ("late", late), ("odd", odd)]
        // Two rounds, one server at a time: in the second, every certificate has been seen.
        let list = try scene.list(
            (1...2).flatMap { round in servers.map { ("\($0.0)\(round).audit.test", $0.1.port) } })
        let run = scene.audit(try scene.policy(), "--hosts", list, "--json", "--parallel", "1")
        let records = try AuditFixture.records(run.output)
        let flags = { (place: JSONValue) in
            [
                place["position"]?.string ?? "", "\(place["sent"]?.boolean ?? false)",
                "\(place["onPath"]?.boolean ?? false)",
            ]
        }
        for round in 1...2 {
            let places = { (name: String) in
                records["\(name)\(round).audit.test"]?["certificates"]?.elements.map(Array.init) ?? []
            }
            #expect(
                places("short").map(flags) == [
                    ["leaf", "true", "true"], ["1", "true", "true"], ["root", "false", "true"],
                ])
            #expect(places("odd").map(flags) == places("short").map(flags))
            #expect(
                places("long").map(flags) == [
                    ["leaf", "true", "true"], ["1", "true", "true"], ["root", "true", "true"],
                ])
            #expect(
                places("late").map(flags) == [
                    ["leaf", "true", "false"], ["1", "true", "false"], ["root", "true", "false"],
                ])
            for (name, _) in servers {
                let fingerprints = places(name).compactMap { $0["certificateSHA256"]?.string }
                let leaf = name == "late" ? expired.certificate : identity.certificate
                #expect(
                    fingerprints
                        == [leaf, authority.certificate, scene.root.certificate].map {
                            CertificatePin(certificate: $0.der).description
                        })
            }
        }
    }

    @Test("A backup key in the served chain is a warning, and --strict counts it")
    func backupInUse() throws {
        let server = try LoopbackTLSServer(scene.identity)
        let policy = try scene.policy(backup: scene.pin(scene.root.certificate))
        let place = ["audit.test", "--connect-to", "127.0.0.1:\(server.port)"]
        let run = scene.audit(policy, place[0], place[1], place[2])
        #expect(run.code == 0)
        #expect(run.output.contains("warning      live-backup-in-use"))
        #expect(run.output.contains("1 server: 1 trusted (1 with warnings), 0 rejected, 0 not reached"))
        #expect(scene.audit(policy, place[0], place[1], place[2], "--strict").code == 1)
        let record = try AuditFixture.records(scene.audit(policy, place[0], place[1], place[2], "--json").output)
        #expect(record["audit.test"]?["backup"]?.string == "in-use")
        let fine = scene.audit(try scene.policy(), place[0], place[1], place[2], "--strict")
        #expect(fine.code == 0)
        #expect(fine.output.hasPrefix("1 server: 1 trusted, 0 rejected, 0 not reached\n"))
    }

    @Test("The exit code distinguishes trusted, rejected and unreached servers")
    func exitCodes() throws {
        let good = try LoopbackTLSServer(scene.identity)
        let bad = try LoopbackTLSServer(scene.stranger())
        let gone = try LoopbackTLSServer(scene.identity)
        gone.close()
        let policy = try scene.policy()
        func code(_ ports: [UInt16]) throws -> Int32 {
            let list = try scene.list(ports.enumerated().map { ("h\($0.offset).audit.test", $0.element) })
            return scene.audit(policy, "--hosts", list).code
        }
        #expect(try code([good.port]) == 0)
        #expect(try code([good.port, bad.port]) == 1)
        #expect(try code([good.port, gone.port]) == 3)
        #expect(try code([good.port, bad.port, gone.port]) == 1)
    }

    @Test("Without hosts, an audit asks the hosts of the rules; without a policy, only the path decides")
    func whoIsAsked() throws {
        let server = try LoopbackTLSServer(scene.identity)
        let place = "127.0.0.1:\(server.port)"
        let rules = scene.audit(try scene.policy(), "--connect-to", place, "--json")
        #expect(
            try AuditFixture.records(rules.output).mapValues(AuditFixture.verdict) == [
                "audit.test": "trusted pin-matched"
            ])
        let path = scene.audit(
            "x.audit.test", "https://audit.test/", "x.audit.test:443", "--connect-to", place, "--json")
        #expect(path.code == 0)
        let records = try AuditFixture.records(path.output)
        #expect(
            records.mapValues(AuditFixture.verdict) == [
                "audit.test": "trusted host-not-pinned", "x.audit.test": "trusted host-not-pinned",
            ])
        #expect(records["audit.test"]?["problems"] == nil)
        #expect(records["audit.test"]?["policy"] == nil)
    }

    @Test("An audit uses a proxy from the environment, except for excluded hosts")
    func proxy() throws {
        let server = try LoopbackTLSServer(scene.identity)
        let port = server.port
        let proxy = try LoopbackProxy(.httpConnect) { _, _ in port }
        let environment = ["HTTPS_PROXY": "http://127.0.0.1:\(proxy.port)"]
        let policy = try scene.policy()
        let run = scene.audit(policy, "a.audit.test", "b.audit.test", environment: environment)
        #expect(run.code == 0, "\(run.output)")
        #expect(Set(proxy.connections.compactMap(\.host)) == ["a.audit.test", "b.audit.test"])
        let list = try scene.list([("a.audit.test", port)])
        let past = scene.audit(
            policy, "--hosts", list, environment: environment.merging(["NO_PROXY": "127.0.0.1"]) { $1 })
        #expect(past.code == 0 && past.errors == "", "\(past.output)")
        #expect(proxy.connections.count == 2)
        let skipping = scene.audit(
            policy, "--hosts", list, environment: environment.merging(["NO_PROXY": "10.*,127.0.0.1"]) { $1 })
        #expect(skipping.code == 0 && skipping.errors.contains("warning: NO_PROXY has entries"), "\(skipping.errors)")
        #expect(proxy.connections.count == 2)
        let refusing = try LoopbackProxy(.httpConnect) { _, _ in nil }
        let refused = scene.audit(
            policy, "a.audit.test", environment: ["HTTPS_PROXY": "http://127.0.0.1:\(refusing.port)"])
        #expect(refused.code == 3)
        #expect(refused.output.contains("NOT REACHED  proxy-refused"))
        #expect(scene.audit(policy, environment: ["HTTPS_PROXY": "https://127.0.0.1:1"]).code == 2)
    }

    @Test("A name that does not resolve fails only its own server")
    func unresolved() throws {
        let server = try LoopbackTLSServer(scene.identity)
        let list = try scene.directory.write(
            "nowhere.invalid\na.audit.test 127.0.0.1:\(server.port)\nb.audit.test localhost:\(server.port)\n",
            to: "l.txt")
        let run = scene.audit(try scene.policy(), "--hosts", list, "--json")
        #expect(
            try AuditFixture.records(run.output).mapValues(AuditFixture.verdict) == [
                "nowhere.invalid": "name-not-resolved", "a.audit.test": "trusted pin-matched",
                "b.audit.test": "trusted pin-matched",
            ])
    }

    @Test("A host list may have comments, and each unreadable line is reported with its place")
    func hostList() throws {
        let server = try LoopbackTLSServer(scene.identity)
        let port = server.port
        let good = try scene.directory.write(
            "# the servers\r\n\r\n  a.audit.test\t127.0.0.1:\(port)  # one\r\nA.audit.test. 127.0.0.1:\(port)\n"
                + "https://b.audit.test/x 127.0.0.1:\(port)", to: "good.txt")
        let run = scene.audit(try scene.policy(), "--hosts", good, "--json")
        #expect(run.code == 0, "\(run.errors)")
        #expect(try Set(AuditFixture.records(run.output).keys) == ["a.audit.test", "b.audit.test"])
        let bad = try scene.directory.write(
            "a.audit.test\n  -x.test\nb.test 1.2.3.4:99999\nc.test d.test e.test\nhttp://f.test\n\u{0}\n", to: "bad.txt"
        )
        let refused = scene.audit(try scene.policy(), "--hosts", bad)
        #expect(refused.code == 2)
        for place in ["\(bad):2:3: ", "\(bad):3:1: ", "\(bad):4:1: ", "\(bad):5:1: ", "\(bad):6:1: "] {
            #expect(refused.errors.contains("error: \(place)"), "\(place)")
        }
        #expect(refused.output.isEmpty)
        let asPolicy = scene.audit(good)
        #expect(asPolicy.code == 2)
        #expect(asPolicy.errors.contains("a list of hosts is given with --hosts"))
    }

    @Test("The error about a byte order mark names it")
    func byteOrderMark() throws {
        let server = try LoopbackTLSServer(scene.identity)
        let line = Array("a.audit.test 127.0.0.1:\(server.port)\n".utf8)
        for (mark, code) in [([], 0), ([0xEF, 0xBB, 0xBF], 2), ([0xFF, 0xFE], 2), ([0xFE, 0xFF], 2)]
            as [([UInt8], Int32)]
        {
            let run = ToolRun(
                arguments: ["audit", try scene.policy(), "--hosts", "-", "--anchors", scene.anchors],
                input: mark + line)
            #expect(run.code == code)
            #expect(run.errors.contains("stdin:1:1: the file begins with a byte order mark (BOM)") == (code == 2))
        }
    }

    @Test("An audit names a rule that matches no server of the list, and --strict counts it")
    func unmetRule() throws {
        let server = try LoopbackTLSServer(scene.identity)
        let list = try scene.list([("a.audit.test", server.port)])
        let pin = try scene.pin(scene.identity.certificate)
        func policy(_ host: String) throws -> String {
            try scene.directory.write(
                """
                {"version": 1, "hosts": [
                 {"host": "audit.test", "includeSubdomains": true, "pins": ["\(pin)"],
                  "backupPins": ["\(AuditFixture.spare)"]},
                 {"host": "\(host)", "pins": ["\(pin)"], "backupPins": ["\(AuditFixture.spare)"]}]}
                """, to: "two.json")
        }
        let other = try scene.list([("a.audit.test", server.port), ("b.audit.test", server.port)], name: "two.txt")
        #expect(scene.audit(try policy("b.audit.test"), "--hosts", other, "--strict").code == 0)
        let bad = try policy("b.audti.test")
        let run = scene.audit(bad, "--hosts", other)
        #expect(run.code == 0)
        #expect(run.errors.contains("no server of the list falls under 1 rule: b.audti.test"))
        #expect(scene.audit(bad, "--hosts", other, "--strict").code == 1)
        // Each shard reads the whole list, so it knows which rules match no server.
        let results = scene.directory.path(of: "r")
        let part = scene.audit(bad, "--hosts", other, "--shard", "1/9999", "-o", results, "--json")
        #expect(try part.json()["unmetRules"]?.elements?.compactMap(\.string) == ["b.audti.test"])
        // A user who names single servers leaves out rules on purpose.
        let one = scene.audit(bad, "a.audit.test", "--connect-to", "127.0.0.1:\(server.port)", "--strict")
        #expect(one.code == 0)
        #expect(scene.audit(try policy("b.audit.test"), "--hosts", list).errors.contains("1 rule: b.audit.test"))
    }

    @Test("The shard of a host does not depend on the list, and all shards together are the whole list")
    func shards() throws {
        let names = (0..<40).map { "h\($0).audit.test" }
        let endpoints = try names.map { ServerEndpoint(host: try ServerName($0)) }
        let shards = (1...3).compactMap { AuditShard("\($0)/3") }
        #expect(shards.count == 3)
        for endpoint in endpoints { #expect(shards.count { $0.contains(endpoint.host) } == 1) }
        for shard in shards { #expect(endpoints.contains { shard.contains($0.host) }) }
        #expect(try AuditShard("1/1")?.contains(ServerName("a.audit.test")) == true)
        for text in ["0/3", "4/3", "1", "1/0", "1/2/3", "-1/2", "1/10001", "a/b"] {
            #expect(AuditShard(text) == nil)
        }
        // The numbers come from $(printf %s example.com | sha256sum | cut -c1-16) modulo 5 and 7.
        #expect(try AuditShard("5/5")?.contains(ServerName("example.com")) == true)
        #expect(try AuditShard("6/7")?.contains(ServerName("Example.COM.")) == true)
    }

    @Test("The tool refuses command lines that contradict themselves")
    func usage() throws {
        let policy = try scene.policy()
        for arguments in [
            [], [policy, "--resume"], [policy, "--html", "x.html"], [policy, "--shard", "x"],
            [policy, "--parallel", "0"],
            [policy, "--parallel", "501"], [policy, "--time-limit", "0"], [policy, policy],
            [policy, "--hosts", "-", "--hosts", "-"], ["--from", policy], ["--history", policy],
        ] {
            let run = ToolRun(arguments: ["audit"] + arguments)
            #expect(run.code == 2, "\(arguments)")
        }
    }
}
