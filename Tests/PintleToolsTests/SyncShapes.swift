import Testing

/// Native files as they are found in public projects, with other names and values. The part that belongs to the policy
/// stands between `⟦` and `⟧`: the old block, the empty dictionary that is replaced, or nothing where one is inserted.
struct SyncShape: CustomTestStringConvertible {
    let name: String
    let marked: String
    var testDescription: String { name }

    var text: String { marked.replacing("⟦", with: "").replacing("⟧", with: "") }
    var before: String { String(marked.prefix { $0 != "⟦" }) }
    var after: String { String(marked.reversed().prefix { $0 != "⟧" }.reversed()) }

    private static let xml = #"<?xml version="1.0" encoding="UTF-8"?>"#
    private static let type =
        #"<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">"#

    private static func plist(_ name: String, _ body: String, newline: String = "\n") -> SyncShape {
        let text = "\(xml)\n\(type)\n<plist version=\"1.0\">\n\(body)\n</plist>\n"
        return SyncShape(name: name, marked: newline == "\n" ? text : text.replacing("\n", with: newline))
    }

    static let infoPlists: [SyncShape] = [
        plist(
            "Xcode's template: tabs, no App Transport Security",
            "<dict>\n\t<key>CFBundleName</key>\n\t<string>$(PRODUCT_NAME)</string>\n\t<key>UILaunchScreen</key>\n\t<dict/>⟦⟧\n</dict>"
        ),
        plist(
            "XcodeGen: the root is indented, an old block",
            """
              <dict>
                <key>NSAppTransportSecurity</key>
                <dict>
                  <key>NSAllowsLocalNetworking</key>
                  <true/>
                  <key>NSPinnedDomains</key>
                  ⟦<dict>
                    <key>old.example.org</key>
                    <dict>
                      <key>NSPinnedCAIdentities</key>
                      <array>
                        <dict>
                          <key>SPKI-SHA256-BASE64</key>
                          <string>YOUR_PIN_HERE</string>
                        </dict>
                      </array>
                    </dict>
                  </dict>⟧
                </dict>
                <key>CFBundleVersion</key>
                <string>1</string>
              </dict>
            """),
        plist(
            "CRLF and an empty dictionary",
            "<dict>\n\t<key>NSAppTransportSecurity</key>\n\t⟦<dict/>⟧\n\t<key>CFBundleIdentifier</key>\n\t<string>com.example</string>\n</dict>",
            newline: "\r\n"),
        plist(
            "React Native: a comment in the dictionary, exceptions below it",
            """
            <dict>
            \t<key>NSAppTransportSecurity</key>
            \t<dict>
            \t  <!-- Do not change this to true, or you will risk app rejection! -->
            \t\t<key>NSAllowsArbitraryLoads</key>
            \t\t<false/>
            \t\t<key>NSExceptionDomains</key>
            \t\t<dict>
            \t\t\t<key>localhost</key>
            \t\t\t<dict>
            \t\t\t\t<key>NSExceptionAllowsInsecureHTTPLoads</key>
            \t\t\t\t<true/>
            \t\t\t</dict>
            \t\t</dict> <!-- for the packager -->⟦⟧
            \t</dict>
            </dict>
            """),
        plist(
            "Flutter: everything is allowed, four blanks",
            """
            <dict>
                <key>CFBundleDisplayName</key>
                <string>Ré &amp; Söhne</string>
                <key>NSAppTransportSecurity</key>
                <dict>
                    <key>NSAllowsArbitraryLoads</key>
                    <true/>
                    <key>NSAllowsArbitraryLoadsInWebContent</key>
                    <true/>⟦⟧
                </dict>
                <key>io.flutter.embedded_views_preview</key>
                <true/>
            </dict>
            """),
        plist(
            "The same key elsewhere, of other types",
            """
            <dict>
              <key>Settings</key>
              <dict>
                <key>NSAppTransportSecurity</key>
                <dict><key>NSPinnedDomains</key><dict/></dict>
              </dict>
              <key>NSPinnedDomains</key>
              <true/>
              <key>NSAppTransportSecurity</key>
              <dict>
                <key>NSExceptionDomains</key>
                <dict>
                  <key>api.example.com</key>
                  <dict>
                    <key>NSPinnedDomains</key>
                    <true/>
                  </dict>
                </dict>
                <key>NSPinnedDomains</key>
                ⟦<dict>
                </dict>⟧
              </dict>
            </dict>
            """),
        SyncShape(
            name: "One line a key, no document type, no end of line at the end",
            marked: xml
                + "<plist version=\"1.0\"><dict>\n<key>CFBundleName</key><string>x</string>\n<key>NSAppTransportSecurity</key><dict><key>NSAllowsLocalNetworking</key><true/>⟦⟧</dict>\n</dict></plist>"
        ),
        SyncShape(
            name: "A byte-order mark, a document type with https, CDATA",
            marked: "\u{FEFF}" + xml
                + "\n<!DOCTYPE plist PUBLIC \"-//Apple Computer//DTD PLIST 1.0//EN\" \"https://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n<plist version=\"1.0\">\n<dict>\n  <key><![CDATA[NSAppTransportSecurity]]></key>\n  <dict>\n    <key>NSPinnedDomains</key>\n    ⟦<dict/>⟧\n  </dict>\n  <key>Note</key>\n  <string><![CDATA[<dict></dict> & more]]></string>\n</dict>\n</plist>"
        ),
        SyncShape(name: "Nothing in it", marked: "<plist>\n⟦<dict/>⟧\n</plist>\n"),
        SyncShape(name: "An empty pair of tags", marked: "<plist><dict>⟦⟧</dict></plist>"),
        plist(
            "A comment as the only content",
            "<dict>\n\t<key>NSAppTransportSecurity</key>\n\t<dict>\n\t\t<!-- nothing yet -->⟦⟧\n\t</dict>\n</dict>"),
        plist(
            "Old Mac ends of lines", "<dict>\n\t<key>NSAppTransportSecurity</key>\n\t⟦<dict></dict>⟧\n</dict>",
            newline: "\r"),
        SyncShape(
            name: "ISO 8859-1 in the declaration",
            marked:
                "<?xml version='1.0' encoding='ISO-8859-1'?>\n<plist version=\"1.0\">\n<dict>\n\t<key>A</key>\n\t<string>b</string>⟦⟧\n</dict>\n</plist>\n"
        ),
    ]

    static let securityConfigs: [SyncShape] = [
        SyncShape(name: "Nothing in it", marked: "⟦<network-security-config/>⟧"),
        SyncShape(
            name: "base-config and debug-overrides",
            marked: """
                <?xml version="1.0" encoding="utf-8"?>
                <!-- Debug builds trust a proxy. -->
                <network-security-config xmlns:tools="http://schemas.android.com/tools">
                    <base-config cleartextTrafficPermitted="false" tools:ignore="InsecureBaseConfiguration">
                        <trust-anchors>
                            <certificates src="system" />
                        </trust-anchors>
                    </base-config>
                    <debug-overrides>
                        <trust-anchors>
                            <certificates src="user" />
                        </trust-anchors>
                    </debug-overrides>⟦⟧
                </network-security-config>
                """),
        SyncShape(
            name: "React Native: cleartext for the packager, an old block between",
            marked: """
                <network-security-config>
                  <domain-config cleartextTrafficPermitted="true">
                    <domain includeSubdomains="false">10.0.2.2</domain>
                    <domain includeSubdomains="false">localhost</domain>
                  </domain-config>
                  ⟦<domain-config>
                    <domain includeSubdomains="true">api.example.com</domain>
                    <pin-set expiration="2027-01-01">
                      <pin digest="SHA-256">AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=</pin>
                    </pin-set>
                  </domain-config>⟧
                  <base-config><trust-anchors><certificates src="system"/></trust-anchors></base-config>
                </network-security-config>
                """),
        SyncShape(
            name: "CRLF, tabs, a host of the policy without pins",
            marked:
                "<network-security-config>\r\n\t⟦<domain-config cleartextTrafficPermitted=\"false\">\r\n\t\t<domain>API.example.com</domain>\r\n\t</domain-config>⟧\r\n\t<!-- end -->\r\n</network-security-config>\r\n"
        ),
        SyncShape(
            name: "Pins in a comment",
            marked: """
                <network-security-config>
                    <!--
                    <domain-config>
                        <domain>api.example.com</domain>
                        <pin-set><pin digest="SHA-256">…</pin></pin-set>
                    </domain-config>
                    -->⟦⟧
                </network-security-config>
                """),
    ]
}
