import CCurlClient
import Foundation
import FoundationNetworking
import PintleURLSession

/// The clients of section C, which take turns.
struct Clients {
    /// One of several clients that do the same work.
    struct Client {
        let name: String
        let get: (_ url: URL, _ count: Int) async throws -> Void
    }

    private let nginx: URL
    private let sink: URL
    private let what: String
    private let pinned: URLSession
    private let unpinned: URLSession
    private let stock = URLSession(configuration: .ephemeral)
    private let cached: OpaquePointer
    private let shipped: OpaquePointer

    init(files: String, what: String) throws {
        func read(_ name: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: "\(files)/\(name)")) }
        let addresses = try String(decoding: read("addresses"), as: UTF8.self).split(separator: " ")
        guard addresses.count == 2, let nginx = URL(string: String(addresses[0])),
            let sink = URL(string: String(addresses[1])), let cached = curl_client_new("\(files)/roots.pem", 1),
            let shipped = curl_client_new("\(files)/roots.pem", 0)
        else { stop("no addresses") }
        (self.nginx, self.sink, self.what, self.cached, self.shipped) = (nginx, sink, what, cached, shipped)
        let pin = Pin(.publicKey(try PublicKeyPin(subjectPublicKeyInfo: Array(read("spki.der")))))
        let policy = try PinningPolicy(hosts: [PinnedHost("localhost", pins: [pin], backup: .noneAccepted)])
        // With the system's roots, taken from `SSL_CERT_FILE`.
        pinned = URLSession.pinned(to: policy, configuration: .ephemeral)
        unpinned = URLSession.pinned(to: try PinningPolicy(hosts: []), configuration: .ephemeral)
    }

    func run() async throws {
        switch what {
        case "times":
            try await newConnections()
            try await keptConnections()
            try await bulk()
        case "new": try await newConnections()
        case "bulk": try await bulk()
        case "pinned", "unpinned", "libcurl", "stock": try await newConnections(of: what)
        default: stop("no such thing as \(what)")
        }
    }

    /// Makes 500 new connections with one client, for a profiler.
    private func newConnections(of name: String) async throws {
        let client =
            switch name {
            case "pinned": session(name, pinned)
            case "unpinned": session(name, unpinned)
            case "libcurl": curl(name, cached)
            default: session(name, stock)
            }
        let cost = try await cost { try await client.get(nginx.appendingPathComponent("new"), 500) }
        print(name, text(cost.wall / 500_000), text(cost.processor / 500_000))
    }

    private func newConnections() async throws {
        let clients = [
            session("pinned session", pinned), session("the same, nothing pinned", unpinned),
            curl("libcurl in C, store cached", cached), curl("libcurl in C, as shipped", shipped),
            session("stock URLSession", stock),
        ]
        let times = try await compare(clients, nginx.appendingPathComponent("new"), counts: [40, 40, 40, 5, 5])
        printTable(
            "C. A new connection and a GET of 100 bytes, TLS 1.3 without resumption, the system's roots; us",
            ["client", "wall", "processor"],
            zip(clients, times).map { [$0.name, text($1.wall / 1_000), text($1.processor / 1_000)] },
            notes: [
                "stock : pinned \(atLeast(times[4].wall / times[0].wall, 12)),"
                    + " in processor time \(text(times[4].processor / times[0].processor, decimals: 1))",
                "pinned : libcurl, store cached \(ratio(times[0].wall / 1_000, to: times[2].wall / 1_000, atMost: 1.15)),"
                    + " in processor time \(text(times[0].processor / times[2].processor, decimals: 2))",
                "pinned : unpinned \(text(times[0].wall / times[1].wall, decimals: 2)),"
                    + " in processor time \(text(times[0].processor / times[1].processor, decimals: 2)), target 1.00",
            ])
    }

    private func keptConnections() async throws {
        let clients = [
            session("pinned session", pinned), session("the same, nothing pinned", unpinned),
            curl("libcurl in C", cached), session("stock URLSession", stock),
        ]
        let times = try await compare(clients, nginx.appendingPathComponent("kept"), counts: [400, 400, 400, 200])
        printTable(
            "C. A GET of 100 bytes on a kept connection, one after the other; us",
            ["client", "wall", "processor", "requests/s"],
            zip(clients, times).map {
                [$0.name, text($1.wall / 1_000), text($1.processor / 1_000), text(1_000_000_000 / $1.wall)]
            },
            notes: [
                "stock : pinned \(atLeast(times[3].wall / times[0].wall, 1.5)),"
                    + " in processor time \(text(times[3].processor / times[0].processor, decimals: 1))",
                "pinned : unpinned \(text(times[0].wall / times[1].wall, decimals: 2)),"
                    + " in processor time \(text(times[0].processor / times[1].processor, decimals: 2)), target 1.00",
            ])
    }

    private func session(_ name: String, _ session: URLSession) -> Client {
        Client(name: name) { url, count in
            for _ in 0..<count {
                guard try await session.data(from: url).0.count == 100 else { stop("\(name): not the answer") }
            }
        }
    }

    private func curl(_ name: String, _ client: OpaquePointer) -> Client {
        Client(name: name) { url, count in
            let received = curl_client_get(client, url.absoluteString, Int32(count))
            guard received == 100 * count else { stop("\(name) fails") }
        }
    }

    private func atLeast(_ ratio: Double, _ target: Double) -> String {
        "\(text(ratio, decimals: 1)), target >= \(text(target, decimals: 1)): \(ratio >= target ? "met" : "MISSED")"
    }
}

// MARK: Measuring

extension Clients {
    struct Cost {
        var wall = 0.0
        var processor = 0.0
    }

    /// Returns the nanoseconds for each request, as medians of batches in which the clients take turns.
    private func compare(_ clients: [Client], _ url: URL, counts: [Int]) async throws -> [Cost] {
        var samples = clients.map { _ in [Cost]() }
        for client in clients { try await client.get(url, 2) }
        for _ in 0..<15 {
            for (index, client) in clients.enumerated() {
                let cost = try await cost { try await client.get(url, counts[index]) }
                let count = Double(counts[index])
                samples[index].append(Cost(wall: cost.wall / count, processor: cost.processor / count))
            }
        }
        return samples.map { costs in
            Cost(wall: median(costs.map(\.wall)), processor: median(costs.map(\.processor)))
        }
    }

    func cost(_ body: () async throws -> Void) async rethrows -> Cost {
        let (wall, processor) = (wall_nanoseconds(), process_nanoseconds())
        try await body()
        return Cost(
            wall: Double(wall_nanoseconds() - wall), processor: Double(process_nanoseconds() - processor))
    }

    private func median(_ samples: [Double]) -> Double { samples.sorted()[samples.count / 2] }
}

// MARK: A gibibyte

extension Clients {
    private func bulk() async throws {
        let (size, file) = (1 << 30, nginx.appendingPathComponent("gigabyte"))
        let (pinned, cached, sink) = (pinned, cached, sink)
        let zeros = FileManager.default.temporaryDirectory.appendingPathComponent("pintle-bench-\(UUID().uuidString)")
        _ = FileManager.default.createFile(atPath: zeros.path, contents: nil)
        defer { try? FileManager.default.removeItem(at: zeros) }
        truncate(zeros.path, size)
        let (down, up) = (file.absoluteString, sink.absoluteString)
        // Warms the page cache, in this process and in nginx, so that the first client does not pay for it.
        guard curl_client_put(cached, up, zeros.path, Int64(size)) == size, curl_client_get(cached, down, 1) == size
        else { stop("libcurl fails") }
        let works: [(name: String, work: () async throws -> Void)] = [
            ("down, pinned session", { try await Counter(size).run(pinned.dataTask(with: file)) }),
            ("down, libcurl in C", { guard curl_client_get(cached, down, 1) == size else { stop("libcurl fails") } }),
            ("up, pinned session", { try await Self.upload(zeros, pinned, sink) }),
            (
                "up, libcurl in C",
                { guard curl_client_put(cached, up, zeros.path, Int64(size)) == size else { stop("libcurl fails") } }
            ),
        ]
        // One measurement differs from the next by up to a half: it depends on how the sizes of the pieces fall out.
        var samples = works.map { _ in [Cost]() }
        var growth = works.map { _ in 0 }
        for _ in 0..<5 {
            for index in works.indices {
                let before = Memory.restartPeak()
                samples[index].append(try await cost(works[index].work))
                growth[index] = max(growth[index], Memory.peak - before)
            }
        }
        let costs = samples.map { samples in
            Cost(wall: median(samples.map(\.wall)), processor: median(samples.map(\.processor)))
        }
        printTable(
            "C. 1 GiB, up from a file of zeros; medians of 5 in ms, and MiB by which the process grew at most",
            ["client", "wall", "processor", "memory"],
            works.indices.map { index in
                [
                    works[index].name, text(costs[index].wall / 1_000_000), text(costs[index].processor / 1_000_000),
                    text(Double(growth[index]) / 1_024),
                ]
            },
            notes: [
                "down, pinned : libcurl, processor time \(text(costs[0].processor / costs[1].processor, decimals: 2))",
                "up, pinned : libcurl, processor time \(text(costs[2].processor / costs[3].processor, decimals: 2))",
            ])
    }

    private static func upload(_ file: URL, _ session: URLSession, _ url: URL) async throws {
        var request = URLRequest(url: url)
        request.httpMethod = "PUT"
        let (_, response) = try await session.upload(for: request, fromFile: file)
        guard (response as? HTTPURLResponse)?.statusCode == 200 else { stop("the upload fails") }
    }
}
