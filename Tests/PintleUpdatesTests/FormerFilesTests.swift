import FoundationEssentials
import Pintle
import PintleCrypto
import Testing

@testable import PintleUpdates

/// The files are byte for byte those of an earlier revision, signed with the first key of ``ShippedApp``.
@Suite("Files of an earlier revision")
struct FormerFilesTests {
    private static let envelope = """
        {
          "payload": "ewogICJ2ZXJzaW9uIjogNywKICAiaXNzdWVkQXQiOiAiMjAyNi0xMS0wMVQwMDowMDowMFoiLAogICJleHBpcmVzQXQiOiAiMjAy\
        Ny0wMi0xOFQwMDowMDowMFoiLAogICJwb2xpY3kiOiB7CiAgICAidmVyc2lvbiI6IDEsCiAgICAiaG9zdHMiOiBbCiAgICAgIHsK\
        ICAgICAgICAiaG9zdCI6ICJleGFtcGxlLmNvbSIsCiAgICAgICAgInBpbnMiOiBbCiAgICAgICAgICAic2hhMjU2L0FBQUFBQUFB\
        QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUk9IgogICAgICAgIF0sCiAgICAgICAgImJhY2t1cFBpbnMiOiBbCiAg\
        ICAgICAgICAic2hhMjU2L0FBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBR1k9IgogICAgICAgIF0KICAg\
        ICAgfQogICAgXQogIH0KfQo=",
          "payloadType": "application/vnd.pintle.policy+json",
          "signatures": [
            {
              "keyid": "9a4f105ba699503aa4f1a9050a934c766b81cf1a416de940d7fac4f73abdbb4a",
              "sig": "bgi2n9KzIN6tnf3BXijvAghMtF5ijMESuHqKaiqTetd3jLZvA0YfzCUbEXxEf9m21hcWb977JmCIgUqDX/LOCg=="
            }
          ]
        }

        """

    private static let floor = """
        {
          "version": 7,
          "keySet": "d97ac5409fc4911d86bf430f6df784eb358d769434c779f1893ff2d6a13cd677",
          "payloadSHA256": "f86c48e4ba36d555a247ca3a3dffcf74f003aca91ed43f343345c46416ab0916"
        }

        """

    @Test("An update from an earlier revision is adopted, and its envelope is written with the same bytes")
    func envelope() throws {
        let app = try ShippedApp()
        let bytes = Array(Self.envelope.utf8)
        let update = try app.verifier.verify(bytes, floor: nil, at: Publication.now)
        #expect(update.version == 7 && update.signers == [app.one.key])
        #expect(update.policy.hosts.map(\.description) == ["example.com"])
        #expect(update.policy.hosts.map(\.pins) == [[try .publicKey(Pins.pin(2))]])
        #expect(update.policy.hosts.map(\.backupPins) == [[try .publicKey(Pins.pin(102))]])
        #expect(try SignedEnvelope(bytes).json == bytes)
    }

    @Test("A floor from an earlier revision is parsed, and written with the same bytes")
    func floor() throws {
        let app = try ShippedApp()
        let bytes = Array(Self.floor.utf8)
        let floor = try #require(UpdateFloor(json: bytes))
        let update = try app.verifier.verify(Array(Self.envelope.utf8), floor: floor, at: Publication.now)
        #expect(update.isUnchanged)
        #expect(floor == update.floor(for: try app.trust) && floor.json == bytes)
        // Counter-check: the floor refuses an older update, which is accepted without it.
        let older = try Publication(version: "6").signed(by: app.one)
        #expect(try app.code(older, floor: floor) == .rollback)
        #expect(try app.code(older) == nil)
    }
}
