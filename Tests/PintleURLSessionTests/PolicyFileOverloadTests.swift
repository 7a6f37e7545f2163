import PintleOpenSSL
import PintleTestKit
import PintleURLSession
import Testing

@Suite("A policy file, with both modules imported")
struct PolicyFileOverloadTests {
    @Test("The same call reads the file even though both modules declare the initializer")
    func bothModules() throws {
        let directory = try TemporaryDirectory()
        let path = try directory.write("{\"version\": 1, \"hosts\": [{\"host\": \"a.test\"}]}", to: "policy.json")
        #expect(try PinningPolicy(contentsOfFile: path).hosts.map(\.description) == ["a.test"])
        let gone = #expect(throws: PolicyError.self) {
            try PinningPolicy(contentsOfFile: directory.path(of: "gone.json"))
        }
        #expect(gone?.problems.map(\.id) == ["unreadable-file"])
    }
}
