#!/usr/bin/env bash
# Writes seed inputs for the entries that read other platforms' pins and results of audits. mint-corpus.sh sources this
# file and defines `seed`.
pin=bY6xww3evppguEURne+O8rOnqEeJ1Yb25LOlHdYa710=
seed ForeignXML nsc '<network-security-config><base-config><trust-anchors><certificates src="system"/></trust-anchors></base-config>
<domain-config><domain includeSubdomains="true">a.test</domain><pin-set expiration="2027-11-20"><pin digest="SHA-256">'$pin'</pin>
</pin-set><domain-config><domain>b.a.test</domain></domain-config></domain-config></network-security-config>'
seed ForeignXML ats '<plist version="1.0"><dict><key>NSPinnedDomains</key><dict><key>a.test</key><dict><key>NSPinnedCAIdentities</key>
<array><dict><key>SPKI-SHA256-BASE64</key><string>'$pin'</string></dict></array></dict></dict></dict></plist>'
seed ForeignXML trustkit '<plist><dict><key>TSKPinnedDomains</key><dict><key>a.test</key><dict><key>TSKPublicKeyHashes</key>
<array><string>'$pin'</string></array><key>TSKEnforcePinning</key><false/></dict></dict></dict></plist>'
seed Sync plist $'<?xml version="1.0"?>\r\n<!DOCTYPE plist PUBLIC "a" "b">\r\n<plist><dict>\r\n\t<key>NSAppTransportSecurity</key>\r\n\t<dict><!-- c --></dict>
<key>A</key><array><integer>1</integer><dict/></array></dict></plist>'
seed Sync nsc '<network-security-config><base-config/><domain-config><domain>a.test</domain><pin-set><pin>x</pin></pin-set></domain-config>
<domain-config><domain>b.test</domain></domain-config></network-security-config>'
seed Sync targets '{"version": 1, "policy": "p", "targets": [{"format": "okhttp", "file": "a.kt", "package": "a.b"}]}'
seed Audit results '{"host":"a.example","port":443,"connectTo":"127.0.0.1:8443","at":"2026-11-20T00:00:00Z","decision":"rejected","reason":"pin-mismatch","certificateEnds":"2027-02-18T00:00:00Z","pinsEnd":"2028-01-01T00:00:00Z","backup":"unused","problems":[{"id":"live-mismatch","severity":"error","message":"<b>"}]}'$'\n{"host":"b","port":1,"at":"2026-11-20T00:00:00Z","error":{"code":"not-tls"}}\n{"ho'
certificate() { # position, digit of the fingerprint, pin
    echo "{\"position\":\"$1\",\"subject\":\"CN=<b>\",\"issuer\":\"CN=i\",\"spkiPin\":\"sha256/$3\",\"certificateSHA256\":\"$(printf "${2}a%.0s" {1..32})\",\"notBefore\":\"2026-11-01T00:00:00Z\",\"notAfter\":\"2027-01-01T00:00:00Z\",\"onPath\":true}"
}
seed Audit history "$(for day in 1 2; do
    echo "{\"host\":\"a.example\",\"port\":443,\"at\":\"2026-11-2${day}T00:00:00Z\",\"decision\":\"trusted\",\"reason\":\"pin-matched\",\"rule\":\"a.example\",\"matchedPin\":\"sha256/$pin\",\"certificates\":[$(certificate leaf $day "$pin"),$(certificate root 3 "$pin")]}"
done)"$'\n'
seed Audit hosts $'# list\na.example:8443 127.0.0.1\r\n  https://[2001:db8::1]/x  # c\nb c d\n'
