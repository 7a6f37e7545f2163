import Testing

@testable import PintleURLSession

/// The lines of libcurl's verbose text, as its versions from 7.80 to 8.23 print them.
@Suite("Pinned sessions: libcurl's lines about refused requests")
struct VerboseLineTests {
    private static func read(_ text: String) -> VerboseLine? {
        Array(text.utf8).withUnsafeBytes { VerboseLine($0) }
    }

    @Test(
        "A line of a known version is read",
        arguments: [
            ("recveived GOAWAY, error=0, last_stream=199\n", VerboseLine.goAway(error: 0, last: 199)),
            ("received GOAWAY, error=13, last_stream=2147483647\n", .goAway(error: 13, last: 2_147_483_647)),
            ("Using Stream ID: 7 (easy handle 0x55d1c0)\n", .opened(stream: 7)),
            ("Using Stream ID: 7\n", .opened(stream: 7)),
            ("[HTTP/2] [21] OPENED stream for https://localhost/a\n", .opened(stream: 21)),
            ("HTTP/2 stream 21 refused by server, try again on a new connection\n", .refused(stream: 21)),
            ("REFUSED_STREAM, retrying a fresh connect\n", .retrying),
            ("Downgrades to HTTP/1.1\n", .downgrading),
        ])
    func known(text: String, expected: VerboseLine) {
        #expect(Self.read(text) == expected)
    }

    @Test(
        "Any other line is not read",
        arguments: [
            "", "[", "r", "received GOAWAY", "received GOAWAY, error=, last_stream=1\n",
            "received GOAWAY, error=0, last_stream=\n", "received GOAWAY, error=0, last_stream=1f\n",
            "received GOAWAY, error=0, last_stream=-1\n", "received GOAWAY, error=0, last_stream=4294967296\n",
            " received GOAWAY, error=0, last_stream=1\n", "[HTTP/2] [1] [x: [HTTP/2] [1] OPENED stream for y]\n",
            "[HTTP/2] [] OPENED stream for y\n", "Using Stream ID: 1f (easy handle 0x55d1c0)\n", "Using Stream ID: \n",
            "HTTP/2 stream 3 was not closed cleanly: REFUSED_STREAM (err 7)\n", "HTTP/2 stream refused by server\n",
            "Connection died, retrying a fresh connect (retry count: 1)\n", "REFUSED_STREAM\n",
            "x-y: received GOAWAY, error=0, last_stream=1\n",
        ])
    func unknown(text: String) {
        #expect(Self.read(text) == nil)
    }
}
