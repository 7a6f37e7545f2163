"""The vectors of Specification/decision.md. Each `expect` follows from the rule that stands before it, not from a program.

States are those of decision.py, in full: its VOCABULARY describes their members. `rules` has the rules of the policy.
"""
NOW, DAY, HOST = 2000000000, 86400, "www.example.com"
GOOD = {"paths": [["kL/cL", "kI/cI", "kR/cR"]]}
STATE = {"endpoint": {"host": HOST, "port": 443}, "clientPath": None, "chain": "readable", "leaf": "kL/cL", "alsoSent": [],
         "leafHasEnded": False, "leafIsForOtherPurpose": False, "leafFindings": [], "validate:system": GOOD, "validate:R": GOOD,
         "unpinnedHosts": "systemTrust", "approvals": [], "now": NOW, "newestKnownTime": None}
RULE = {"host": HOST, "port": None, "includeSubdomains": False, "pins": [], "backupPins": [], "requires": "anyPin",
        "enforcement": "enforce", "expiry": "never", "minimumPathLength": None, "issuerKey": None, "anchors": "R"}
NO_PIN = "key:kNone@any"
CODES = """empty-chain limits-exceeded malformed-certificate invalid-signature self-signed untrusted-root not-a-ca
    path-length-exceeded name-constraint-violation unhandled-critical-extension no-valid-certificate-policy unsuitable-purpose
    weak-key weak-signature not-yet-valid expired name-mismatch other""".split()
VECTORS = []


def answer(text):
    """The answer in words: answer, reason, and what the reason has more."""
    words = text.split()
    names = {"invalid-path": ["code", "term"], "unknown-host": ["code"], "pin-matched": ["depth", "pin"],
        "pins-expired": ["suspicious"]}
    expect = {"answer": words[0], "reason": words[1]}
    for name, word in zip(names.get(words[1], []), words[2:]):
        expect[name] = int(word) if name == "depth" else {"yes": True, "no": False, "none": None}.get(word, word)
    if words[1] == "pin-matched":
        expect["backup"] = expect["pin"].startswith("backupPins")
    return expect


def state(rules, fields):
    for name in fields:
        assert name in STATE or name.startswith("validate:"), name
    return {**STATE, **fields, "rules": [{**RULE, **rule} for rule in rules]}


def vector(number, name, what, expect, rules=({},), **fields):
    fields = {key.replace("validate_", "validate:"): value for key, value in fields.items()}
    VECTORS.append(("decision/d%02d-%s" % (number, name), {"rule": "D%d" % number, "what": what, **state(rules, fields),
        "expect": answer(expect)}))


def pinned(*pins, backup=(), **more):
    return {"pins": list(pins), "backupPins": list(backup), **more}


def failing(*codes):
    return {"failure": list(codes)}


def paths(*lists):
    return {"paths": [list(one) for one in lists]}


def approval(subject="cert:cL", accepts=(), host=HOST, port=443, expires=None, revoked=False):
    return {"host": host, "port": port, "subject": subject, "accepts": list(accepts), "expiresAt": expires, "isRevoked": revoked}


def at(host, port=443):
    return {"host": host, "port": port}


LEAF = pinned("key:kL@any")
WRONG = pinned(NO_PIN)
LEAF_MATCHES = "trusted pin-matched 0 pins[0]"
ASK = {"rules": (), "unpinnedHosts": "askUser"}
# --- D1, D3, D6 ------------------------------------------------------------------------------------------------------------
for name, host in [
        ("ipv4", "0.0.0.0"),
        ("ipv6", "::"),
        ("mapped", "::ffff:192.0.2.1"),
        ("mapped-last", "::ffff:255.255.255.255")]:
    vector(1, "alias-" + name, "an alias without a rule: " + host, "rejected invalid-path other", (), endpoint=at(host))
for name, host in [
        ("ipv4", "0.0.0.1"),
        ("ipv6", "::1"),
        ("beside-mapped", "::fffe:c000:201")]:
    vector(1, "no-alias-" + name, "no alias: " + host, "trusted host-not-pinned", (), endpoint=at(host))
vector(3, "first-code", "two findings, the less fundamental one first", "rejected invalid-path untrusted-root",
    validate_R=failing("expired", "untrusted-root"))
vector(3, "last-codes", "name-mismatch before other", "rejected invalid-path name-mismatch", validate_R=failing("other",
    "name-mismatch"))
vector(3, "self-signed-first", "self-signed before untrusted-root", "rejected invalid-path self-signed",
    validate_R=failing("untrusted-root", "self-signed"))
vector(3, "signature-before-self-signed", "invalid-signature before self-signed", "rejected invalid-path invalid-signature",
    validate_R=failing("self-signed", "invalid-signature"))
for code in CODES:
    vector(28, "code-" + code, "validation fails with " + code, "rejected invalid-path " + code, (LEAF,),
        validate_R=failing(code))
# --- D8 to D10 -------------------------------------------------------------------------------------------------------------
WIDE = {"host": "example.com", "includeSubdomains": True}
vector(8, "below", "a rule for the parent domain with sub-domains", LEAF_MATCHES, ({**LEAF, **WIDE},))
vector(8, "not-below", "a rule for the parent domain without sub-domains", "trusted host-not-pinned", ({**WRONG,
    "host": "example.com"},))
vector(8, "other-port", "a rule for another port", "trusted host-not-pinned", ({**WRONG, "port": 8443},))
vector(8, "no-dot", "a host that ends in the letters of the rule's", "trusted host-not-pinned", ({**WRONG, **WIDE},),
    endpoint=at("wwwexample.com"))
vector(9, "port-before-exact", "a parent's rule with the port before the rule of the host itself", "rejected pin-mismatch",
    ({**LEAF}, {**WRONG, **WIDE, "port": 443}))
vector(9, "exact-before-parent", "the rule of the host itself before a parent's", LEAF_MATCHES, ({**WRONG, **WIDE}, LEAF))
vector(9, "longer-first", "the longer of two parents", LEAF_MATCHES, ({**WRONG, **WIDE}, {**LEAF, "host": "b.example.com",
    "includeSubdomains": True}), endpoint=at("a.b.example.com"))
vector(10, "pins", "a pin of a rule that does not decide", "rejected pin-mismatch", (WRONG, {**LEAF, **WIDE}))
vector(10, "anchors", "anchors of a rule that does not decide", "rejected invalid-path untrusted-root", (LEAF, {**LEAF, **WIDE,
    "anchors": "S"}), validate_R=failing("untrusted-root"), validate_S=GOOD)
vector(10, "enforcement", "reportOnly of a rule that does not decide", "rejected pin-mismatch", (WRONG, {**WRONG, **WIDE,
    "enforcement": "reportOnly"}))
# --- D11, D31 --------------------------------------------------------------------------------------------------------------
TWO = paths(["kL/cL", "kR/cR"])
ALONE = paths(["kL/cL"])
vector(11, "length-met", "a path of three with minimumPathLength 3", LEAF_MATCHES, ({**LEAF, "minimumPathLength": 3},))
vector(11, "length-not-met", "a path of two with minimumPathLength 3", "rejected invalid-path other minimumPathLength", ({**LEAF,
    "minimumPathLength": 3},), validate_R=TWO)
vector(11, "length-1", "a path of one with minimumPathLength 1", LEAF_MATCHES, ({**LEAF, "minimumPathLength": 1},),
    validate_R=ALONE)
vector(11, "issuer-met", "issuerKey at depth 1", LEAF_MATCHES, ({**LEAF, "issuerKey": "kI"},))
vector(11, "issuer-is-anchor", "issuerKey at depth 1 of a path of two", LEAF_MATCHES, ({**LEAF, "issuerKey": "kR"},),
    validate_R=TWO)
vector(11, "issuer-at-0", "issuerKey at depth 0 only", "rejected invalid-path other issuerKey", ({**LEAF, "issuerKey": "kL"},))
vector(11, "issuer-at-2", "issuerKey at depth 2 only", "rejected invalid-path other issuerKey", ({**LEAF, "issuerKey": "kR"},))
vector(11, "issuer-alone", "issuerKey with a path of one", "rejected invalid-path other issuerKey", ({**LEAF,
    "issuerKey": "kL"},), validate_R=ALONE)
vector(11, "issuer-unreadable", "the key at depth 1 cannot be read", "rejected invalid-path other issuerKey", ({**LEAF,
    "issuerKey": "kI"},), validate_R=paths(["kL/cL", "-/cU", "kR/cR"]))
vector(31, "both-terms", "neither term is met: the length is named", "rejected invalid-path other minimumPathLength", ({**LEAF,
    "minimumPathLength": 4, "issuerKey": "kX"},))
vector(31, "before-no-pins", "terms of a rule without pins", "rejected invalid-path other minimumPathLength",
    ({"minimumPathLength": 4},))
vector(31, "before-expiry", "terms of a rule whose pins have expired", "rejected invalid-path other issuerKey", ({**LEAF,
    "issuerKey": "kX", "expiry": {"after": NOW, "then": "systemTrust"}},))
vector(31, "report-only", "terms of a reportOnly rule", "rejected invalid-path other minimumPathLength", ({**LEAF,
    "minimumPathLength": 4, "enforcement": "reportOnly"},))
vector(31, "validation-first", "a failed validation before terms that are not met", "rejected invalid-path expired", ({**LEAF,
    "minimumPathLength": 4},), validate_R=failing("expired"))
# --- D12 to D16, D34, D35 --------------------------------------------------------------------------------------------------
for name, what, expect, rule in [
        ("key-leaf", "a pin of the leaf's key at leaf", LEAF_MATCHES, pinned("key:kL@leaf")),
        ("key-leaf-at-ca", "a pin of the leaf's key at ca", "rejected pin-mismatch", pinned("key:kL@ca")),
        ("key-ca", "a pin of the issuer's key at ca", "trusted pin-matched 1 pins[0]", pinned("key:kI@ca")),
        ("key-ca-at-leaf", "a pin of the issuer's key at leaf", "rejected pin-mismatch", pinned("key:kI@leaf")),
        ("anchor", "a pin of the anchor's key at any", "trusted pin-matched 2 pins[0]", pinned("key:kR@any")),
        ("certificate", "a pin of the leaf's certificate", LEAF_MATCHES, pinned("cert:cL@any")),
        ("certificate-ca", "a pin of the issuer's certificate at ca", "trusted pin-matched 1 pins[0]", pinned("cert:cI@ca")),
        ("certificate-ca-at-leaf", "a pin of the issuer's certificate at leaf", "rejected pin-mismatch", pinned("cert:cI@leaf")),
        ("certificate-leaf-at-ca", "a pin of the leaf's certificate at ca", "rejected pin-mismatch", pinned("cert:cL@ca")),
        ("other-key", "a pin of another key", "rejected pin-mismatch", WRONG),
        ("other-certificate", "a pin of another certificate", "rejected pin-mismatch", pinned("cert:cNone@any")),
        ("backup", "a backup pin of the leaf", "trusted pin-matched 0 backupPins[0]", pinned(NO_PIN, backup=["key:kL@any"])),
        ("second-pin", "the second of two pins", "trusted pin-matched 0 pins[1]", pinned(NO_PIN, "key:kL@any"))]:
    vector(12, name, what, expect, (rule,))
vector(12, "unreadable-key", "a certificate whose key cannot be read, pinned as certificate", "trusted pin-matched 1 pins[0]",
    (pinned("cert:cU@any"),), validate_R=paths(["kL/cL", "-/cU", "kR/cR"]))
vector(13, "also-sent", "a pin of a certificate that was sent and is not in the path", "rejected pin-mismatch",
    (pinned("key:kX@any"),), alsoSent=["kX/cX"])
vector(14, "lower-depth", "the lower depth before the order of the list", "trusted pin-matched 0 pins[1]", (pinned("key:kR@any",
    "key:kL@any"),))
vector(14, "backup-at-lower-depth", "a backup pin at a lower depth before a pin", "trusted pin-matched 0 backupPins[0]",
    (pinned("key:kR@any", backup=["key:kL@any"]),))
vector(14, "key-before-certificate", "a pin of the key before one of the certificate", "trusted pin-matched 0 pins[1]",
    (pinned("cert:cL@any", "key:kL@any"),))
vector(14, "backup-key-before-certificate", "a backup pin of the key before a pin of the certificate",
    "trusted pin-matched 0 backupPins[0]", (pinned("cert:cL@any", backup=["key:kL@any"]),))
vector(14, "certificate-at-lower-depth", "a pin of a certificate at a lower depth before one of a key",
    "trusted pin-matched 0 pins[1]", (pinned("key:kI@any", "cert:cL@any"),))
vector(14, "pin-before-backup", "a pin before a backup pin of the same key", LEAF_MATCHES, (pinned("key:kL@any",
    backup=["key:kL@leaf"]),))
vector(14, "order-of-list", "two pins of the same key with different positions", "trusted pin-matched 0 pins[0]",
    (pinned("key:kL@leaf", "key:kL@any"),))
BOTH = {"requires": "leafAndCA"}
vector(16, "both", "leafAndCA with a match at both", LEAF_MATCHES, (pinned("key:kL@leaf", "key:kI@ca", **BOTH),))
vector(16, "leaf-only", "leafAndCA with a match at the leaf only", "rejected pin-mismatch", (pinned("key:kL@leaf", "key:kX@ca",
    **BOTH),))
vector(16, "ca-only", "leafAndCA with a match above the leaf only", "rejected pin-mismatch", (pinned("key:kX@leaf", "key:kI@ca",
    **BOTH),))
vector(16, "backups", "leafAndCA with backup pins at both", "trusted pin-matched 0 backupPins[0]", (pinned("key:kX@leaf",
    "key:kX@ca", backup=["key:kL@leaf", "key:kR@ca"], **BOTH),))
vector(16, "mixed", "leafAndCA with a pin at the leaf and a backup pin above", LEAF_MATCHES, (pinned("key:kL@leaf", "key:kX@ca",
    backup=["key:kR@ca"], **BOTH),))
vector(16, "path-of-one", "leafAndCA with a path of one", "rejected pin-mismatch", (pinned("key:kL@leaf", "key:kL@ca", **BOTH),),
    validate_R=ALONE)
vector(16, "same-key-twice", "leafAndCA with one key at both depths", LEAF_MATCHES, (pinned("key:kL@leaf", "key:kL@ca", **BOTH),),
    validate_R=paths(["kL/cL", "kL/cI"]))
vector(35, "report-only", "no match with reportOnly", "trusted mismatch-reported-only", ({**WRONG, "enforcement": "reportOnly"},))
vector(35, "report-only-match", "a match with reportOnly", LEAF_MATCHES, ({**LEAF, "enforcement": "reportOnly"},))
vector(35, "report-only-both", "half of leafAndCA with reportOnly", "trusted mismatch-reported-only", (pinned("key:kL@leaf",
    "key:kX@ca", enforcement="reportOnly", **BOTH),))
# --- D17, D18, D32, D33 ----------------------------------------------------------------------------------------------------


def expiring(after, then="systemTrust", **more):
    return {"expiry": {"after": after, "then": then}, **more}


vector(17, "one-second-before", "one second before the end", "rejected pin-mismatch", ({**WRONG, **expiring(NOW + 1)},))
vector(17, "at-the-end", "at the end", "trusted pins-expired no", ({**WRONG, **expiring(NOW)},))
vector(17, "half-a-second-before", "half a second before the end", "rejected pin-mismatch", ({**WRONG, **expiring(NOW + 1)},),
    now=NOW + 0.5)
vector(17, "half-a-second-after", "half a second after the end", "trusted pins-expired no", ({**WRONG, **expiring(NOW)},),
    now=NOW + 0.5)
vector(18, "400-days", "a clock exactly 400 days later than the newest known time", "trusted pins-expired no", ({**LEAF,
    **expiring(NOW)},), newestKnownTime=NOW - 34560000)
vector(18, "400-days-and-a-second", "a clock 400 days and a second later", "trusted pins-expired yes", ({**LEAF,
    **expiring(NOW)},), newestKnownTime=NOW - 34560001)
vector(18, "400-days-and-half-a-second", "a clock 400 days and half a second later", "trusted pins-expired yes",
    ({**LEAF, **expiring(NOW)},), now=NOW + 0.5, newestKnownTime=NOW - 34560000)
vector(18, "earlier-clock", "a clock earlier than the newest known time", "trusted pins-expired no", ({**LEAF, **expiring(NOW)},),
    newestKnownTime=NOW + DAY)
vector(18, "rejecting", "a suspicious clock does not change the answer", "rejected pins-expired yes", ({**LEAF, **expiring(NOW,
    "reject")},), newestKnownTime=0)
vector(18, "not-expired", "a suspicious clock with pins that have not expired", LEAF_MATCHES, ({**LEAF, **expiring(NOW + 1)},),
    newestKnownTime=0)
vector(32, "no-pins", "a rule without pins", "trusted host-not-pinned")
vector(32, "no-pins-expired", "a rule without pins that ended in reject", "trusted host-not-pinned", (expiring(NOW, "reject"),))
vector(32, "no-pins-own-anchors", "a rule without pins whose validation fails", "rejected invalid-path untrusted-root",
    validate_R=failing("untrusted-root"))
vector(33, "matching", "expired pins are not compared", "trusted pins-expired no", ({**LEAF, **expiring(NOW)},))
vector(33, "rejecting-matching", "expired pins that would match, with reject", "rejected pins-expired no", ({**LEAF,
    **expiring(NOW, "reject")},))
vector(33, "rejecting-report-only", "a reportOnly rule that ended in reject", "rejected pins-expired no", ({**WRONG,
    **expiring(NOW, "reject"), "enforcement": "reportOnly"},))
vector(33, "report-only", "a reportOnly rule that ended in systemTrust", "trusted pins-expired no", ({**WRONG, **expiring(NOW),
    "enforcement": "reportOnly"},))
vector(33, "path-of-one", "expired leafAndCA with a path of one", "trusted pins-expired no", (pinned("key:kL@leaf", "key:kL@ca",
    **BOTH, **expiring(NOW)),), validate_R=ALONE)
# --- D24 to D28, D30 -------------------------------------------------------------------------------------------------------
for code in ("empty-chain", "limits-exceeded", "malformed-certificate"):
    vector(24, code, "a chain failure before a host that is not allowed", "rejected invalid-path " + code, (), chain=code,
        unpinnedHosts="reject")
vector(24, "rule", "a chain failure with a rule", "rejected invalid-path empty-chain", ({**LEAF, "enforcement": "reportOnly"},),
    chain="empty-chain")
vector(24, "alias", "a chain failure with an alias", "rejected invalid-path limits-exceeded", (), chain="limits-exceeded",
    endpoint=at("::"))
vector(24, "ask", "a chain failure with an approval", "rejected invalid-path malformed-certificate",
    chain="malformed-certificate", approvals=[approval()], **ASK)
vector(25, "reject", "no rule, and reject", "rejected host-not-allowed", (), unpinnedHosts="reject")
vector(25, "alias", "an alias, and reject", "rejected host-not-allowed", (), unpinnedHosts="reject", endpoint=at("0.0.0.0"))
vector(25, "invalid-path", "no rule and a path that is not valid, and reject", "rejected host-not-allowed", (),
    unpinnedHosts="reject", validate_system=failing("expired"))
vector(25, "approved", "an approval, and reject", "rejected host-not-allowed", (), unpinnedHosts="reject", approvals=[approval()])
vector(25, "rule", "a rule, and reject", LEAF_MATCHES, (LEAF,), unpinnedHosts="reject")
vector(25, "other-port", "a rule for another port, and reject", "rejected host-not-allowed", ({**LEAF, "port": 8443},),
    unpinnedHosts="reject")
vector(26, "ask", "an alias with an approval, and askUser", "rejected invalid-path other", endpoint=at("0.0.0.0"),
    approvals=[approval(host="0.0.0.0")], **ASK)
vector(28, "report-only", "a path that is not valid with reportOnly", "rejected invalid-path expired", ({**LEAF,
    "enforcement": "reportOnly"},), validate_R=failing("expired"))
vector(28, "expired-pins", "a path that is not valid with expired pins", "rejected invalid-path untrusted-root", ({**LEAF,
    **expiring(NOW)},), validate_R=failing("untrusted-root"))
vector(28, "approval", "an approval with a rule", "rejected invalid-path self-signed", (LEAF,), validate_R=failing("self-signed"),
    validate_system=failing("self-signed"), unpinnedHosts="askUser", approvals=[approval(accepts=["self-signed"])])
vector(28, "anchors-of-rule", "the anchors of the rule count, not the system's", LEAF_MATCHES, (LEAF,),
    validate_system=failing("untrusted-root"))
vector(28, "system-of-no-rule", "the system's anchors count without a rule", "rejected invalid-path untrusted-root", (),
    validate_system=failing("untrusted-root"))
vector(30, "no-rule", "no rule, and systemTrust", "trusted host-not-pinned", ())
vector(30, "approval-of-other-leaf", "no rule and an approval of another leaf, and systemTrust", "trusted host-not-pinned", (),
    approvals=[approval("key:kX")])
# --- D29 -------------------------------------------------------------------------------------------------------------------
FIRST, SECOND = ["kL/cL", "kI/cI", "kR/cR"], ["kL/cL", "kJ/cJ", "kS/cS", "kT/cT"]
vector(29, "second-matches", "only the second path has the pin", "trusted pin-matched 1 pins[0]", (pinned("key:kJ@ca"),),
    validate_R=paths(FIRST, SECOND))
vector(29, "first-of-two-matches", "both paths have a pin: the first counts", "trusted pin-matched 2 pins[1]",
    (pinned("key:kJ@ca", "key:kR@ca"),), validate_R=paths(FIRST, SECOND))
vector(29, "second-meets-terms", "only the second path meets the terms", LEAF_MATCHES, ({**LEAF, "minimumPathLength": 4},),
    validate_R=paths(FIRST, SECOND))
vector(29, "terms-and-match-apart", "one path meets the terms, and the other one has the pin", "rejected pin-mismatch",
    (pinned("key:kI@ca", minimumPathLength=4),), validate_R=paths(FIRST, SECOND))
vector(29, "terms-and-match-apart-reported", "the same with reportOnly", "trusted mismatch-reported-only", (pinned("key:kI@ca",
    minimumPathLength=4, enforcement="reportOnly"),), validate_R=paths(FIRST, SECOND))
vector(29, "no-terms", "no path meets the terms", "rejected invalid-path other minimumPathLength", (pinned("key:kI@ca",
    minimumPathLength=5),), validate_R=paths(FIRST, SECOND))
vector(29, "no-terms-issuer-first", "each path lacks another term, and the first one lacks issuerKey",
    "rejected invalid-path other issuerKey", (pinned("key:kI@ca", minimumPathLength=4, issuerKey="kX"),),
    validate_R=paths(SECOND, FIRST))
vector(29, "both-needs-one-path", "leafAndCA is not met by two paths together", "rejected pin-mismatch", (pinned("key:kX@leaf",
    "key:kJ@ca", **BOTH),), validate_R=paths(FIRST, SECOND))
vector(29, "expired-pins", "expired pins: the first path that meets the terms", "trusted pins-expired no", ({**WRONG,
    **expiring(NOW), "minimumPathLength": 4},), validate_R=paths(FIRST, SECOND))
vector(29, "no-pins", "no pins: the first path that meets the terms", "trusted host-not-pinned", ({"issuerKey": "kJ"},),
    validate_R=paths(FIRST, SECOND))
# --- D19 to D23, D27 -------------------------------------------------------------------------------------------------------
ROOT = failing("untrusted-root")
vector(27, "unknown", "no approval and a path that is not valid", "rejected unknown-host untrusted-root", validate_system=ROOT,
    **ASK)
vector(27, "unknown-valid", "no approval and a valid path", "rejected unknown-host none", **ASK)
vector(27, "approved-valid", "an approval and a valid path", "trusted user-approved", approvals=[approval()], **ASK)
vector(27, "approved", "an approval that accepts the failure", "trusted user-approved", validate_system=ROOT,
    approvals=[approval(accepts=["untrusted-root"])], **ASK)
vector(27, "not-accepted", "an approval that does not accept the failure", "rejected invalid-path untrusted-root",
    validate_system=ROOT, approvals=[approval()], **ASK)
vector(27, "changed", "an approval of another leaf", "rejected pin-mismatch", validate_system=ROOT, approvals=[approval("key:kX",
    ["untrusted-root"])], **ASK)
vector(27, "changed-valid", "an approval of another leaf, and a valid path", "rejected pin-mismatch",
    approvals=[approval("cert:cX")], **ASK)
vector(19, "other-port", "an approval for another port", "rejected unknown-host untrusted-root", validate_system=ROOT,
    approvals=[approval(accepts=["untrusted-root"], port=8443)], **ASK)
vector(19, "parent", "an approval for the parent domain", "rejected unknown-host untrusted-root", validate_system=ROOT,
    approvals=[approval(accepts=["untrusted-root"], host="example.com")], **ASK)
vector(19, "other-port-changed", "an approval of another leaf for another port", "rejected unknown-host none",
    approvals=[approval("key:kX", port=8443)], **ASK)
vector(20, "issuer", "an approval of the issuer's key", "rejected pin-mismatch", approvals=[approval("key:kI")], **ASK)
vector(20, "key", "an approval of the leaf's key", "trusted user-approved", approvals=[approval("key:kL")], **ASK)
vector(21, "revoked", "a revoked approval", "rejected unknown-host none", approvals=[approval(revoked=True)], **ASK)
vector(21, "revoked-other", "a revoked approval of another leaf", "rejected unknown-host none", approvals=[approval("key:kX",
    revoked=True)], **ASK)
vector(21, "expired", "an approval that ends now", "rejected unknown-host none", approvals=[approval(expires=NOW)], **ASK)
vector(21, "not-expired", "an approval that ends in one second", "trusted user-approved", approvals=[approval(expires=NOW + 1)],
    **ASK)
vector(21, "expired-other", "an approval of another leaf that has ended stays an alarm", "rejected pin-mismatch",
    approvals=[approval("key:kX", expires=NOW - 1)], **ASK)
NAME, ENDED = {"leafFindings": ["name-mismatch"]}, {"leafFindings": ["expired"], "leafHasEnded": True}
vector(22, "key-and-name", "an approval of a key cannot accept name-mismatch", "rejected invalid-path name-mismatch",
    validate_system=failing("name-mismatch"), approvals=[approval("key:kL", ["name-mismatch"])], **NAME, **ASK)
vector(22, "certificate-and-name", "an approval of a certificate can accept name-mismatch", "trusted user-approved",
    validate_system=failing("name-mismatch"), approvals=[approval(accepts=["name-mismatch"])], **NAME, **ASK)
vector(22, "key-and-expired", "an approval of a key cannot accept expired", "rejected invalid-path expired",
    validate_system=failing("expired"), approvals=[approval("key:kL", ["expired"])], **ENDED, **ASK)
vector(22, "key-and-self-signed", "an approval of a key can accept self-signed", "trusted user-approved",
    validate_system=failing("self-signed"), approvals=[approval("key:kL", ["self-signed"])], **ASK)
vector(22, "key-and-root", "an approval of a key can accept untrusted-root", "trusted user-approved", validate_system=ROOT,
    approvals=[approval("key:kL", ["untrusted-root"])], **ASK)
vector(22, "certificate-and-expired", "an approval of a certificate can accept expired", "trusted user-approved",
    validate_system=failing("expired"), approvals=[approval(accepts=["expired"])], **ENDED, **ASK)
ALL = ["self-signed", "untrusted-root", "name-mismatch", "expired"]
vector(23, "leaf-has-not-ended", "1: expired is not accepted if the leaf has not ended", "rejected invalid-path expired",
    validate_system=failing("expired"), approvals=[approval(accepts=ALL)], **ASK)
vector(23, "valid", "2: a valid path needs nothing accepted", "trusted user-approved", approvals=[approval(accepts=[])],
    leafIsForOtherPurpose=True, **ASK)
vector(23, "second-not-accepted", "3: one of self-signed and untrusted-root is not accepted", "rejected invalid-path self-signed",
    validate_system=failing("self-signed", "untrusted-root"), approvals=[approval(accepts=["self-signed"])], **ASK)
vector(23, "other-purpose", "4: the leaf is for another purpose", "rejected invalid-path unsuitable-purpose",
    validate_system=ROOT, leafIsForOtherPurpose=True, approvals=[approval(accepts=ALL)], **ASK)
vector(23, "other-purpose-and-weak-key", "4: the leaf is for another purpose and has a weak key",
    "rejected invalid-path unsuitable-purpose", validate_system=ROOT, leafIsForOtherPurpose=True, leafFindings=["weak-key"],
    approvals=[approval(accepts=ALL)], **ASK)
vector(23, "other-purpose-and-name", "4: the leaf is for another purpose, and its wrong name is accepted",
    "rejected invalid-path unsuitable-purpose", validate_system=failing("untrusted-root", "unsuitable-purpose", "name-mismatch"),
    leafIsForOtherPurpose=True, approvals=[approval(accepts=ALL)], **NAME, **ASK)
vector(23, "other-purpose-above", "4: a certificate above the leaf is for another purpose", "trusted user-approved",
    validate_system=failing("untrusted-root", "unsuitable-purpose"), approvals=[approval(accepts=["untrusted-root"])], **ASK)
vector(23, "weak-key-of-leaf", "5: a finding of the leaf that is not accepted keeps its code", "rejected invalid-path weak-key",
    validate_system=ROOT, leafFindings=["weak-key"], approvals=[approval(accepts=ALL)], **ASK)
vector(23, "name-of-leaf", "5: a wrong name of the leaf that is not accepted", "rejected invalid-path name-mismatch",
    validate_system=failing("untrusted-root", "name-mismatch"), approvals=[approval(accepts=["untrusted-root"])], **NAME, **ASK)
vector(23, "above-the-leaf", "6: a failure above the leaf does not count", "trusted user-approved",
    validate_system=failing("untrusted-root", "weak-key"), approvals=[approval(accepts=["untrusted-root"])], **ASK)
vector(23, "code-not-accepted", "7: the code of the failure is not accepted", "rejected invalid-path invalid-signature",
    validate_system=failing("invalid-signature", "untrusted-root"), approvals=[approval(accepts=ALL)], **ASK)
vector(23, "everything-accepted", "all four failures, all accepted", "trusted user-approved", validate_system=failing(*ALL),
    leafFindings=["name-mismatch", "expired"], leafHasEnded=True, approvals=[approval(accepts=ALL)], **ASK)
# --- D36 -------------------------------------------------------------------------------------------------------------------
CLIENT = ["kL/cL", "kI/cI", "kR/cR"]
vector(36, "matches", "a path of the client with the pin", LEAF_MATCHES, (LEAF,), clientPath=CLIENT)
vector(36, "mismatch", "a path of the client without the pin", "rejected pin-mismatch", (WRONG,), clientPath=CLIENT)
vector(36, "anchors", "the client's path counts for every set of anchors", LEAF_MATCHES, (LEAF,), clientPath=CLIENT,
    validate_R=failing("untrusted-root"), validate_system=failing("untrusted-root"))
vector(36, "no-rule", "no rule", "trusted host-not-pinned", (), clientPath=CLIENT)
vector(36, "not-allowed", "no rule, and reject", "rejected host-not-allowed", (), clientPath=CLIENT, unpinnedHosts="reject")
vector(36, "alias", "an alias", "rejected invalid-path other", (), clientPath=CLIENT, endpoint=at("::"))
vector(36, "unknown", "no approval, and askUser", "rejected unknown-host none", clientPath=CLIENT, **ASK)
vector(36, "approved", "an approval, and askUser", "trusted user-approved", clientPath=CLIENT, approvals=[approval()], **ASK)
vector(36, "changed", "an approval of another leaf, and askUser", "rejected pin-mismatch", clientPath=CLIENT,
    approvals=[approval("key:kX")], **ASK)
vector(36, "suspicious", "the clock is not suspicious", "trusted pins-expired no", ({**LEAF, **expiring(NOW)},),
    clientPath=CLIENT, newestKnownTime=0)
vector(36, "terms", "terms that are not met", "rejected invalid-path other issuerKey", ({**LEAF, "issuerKey": "kR"},),
    clientPath=CLIENT)
UNREAD = {"clientPath": ["-/cL", "kI/cI"], "leaf": "-/cL", "chain": "malformed-certificate"}
vector(36, "unread-leaf", "a leaf that cannot be read, and askUser", "rejected invalid-path malformed-certificate", **UNREAD, **ASK)
vector(36, "unread-leaf-changed", "a leaf that cannot be read, before an approval of another leaf",
    "rejected invalid-path malformed-certificate", approvals=[approval("key:kX")], **UNREAD, **ASK)
vector(36, "unread-leaf-approved", "a leaf that cannot be read, before an approval of its certificate",
    "rejected invalid-path malformed-certificate", approvals=[approval()], **UNREAD, **ASK)
vector(36, "unread-leaf-alias", "a leaf that cannot be read, behind an alias", "rejected invalid-path other", endpoint=at("::"),
    **UNREAD, **ASK)
vector(36, "unread-leaf-no-rule", "a leaf that cannot be read, and systemTrust: the chain is not read", "trusted host-not-pinned", (), **UNREAD)
vector(36, "unread-leaf-pinned", "a leaf that cannot be read below a certificate with the pin", "trusted pin-matched 1 pins[0]",
    (pinned("key:kI@any"),), **UNREAD)
vector(36, "unread-leaf-not-allowed", "a leaf that cannot be read, and reject", "rejected host-not-allowed", (), unpinnedHosts="reject", **UNREAD)

# --- D2: reading a chain ---------------------------------------------------------------------------------------------------


def chain(name, what, expect, *certificates):
    """Each certificate: how many like this, and their members."""
    VECTORS.append(("chains/d02-" + name, {
        "rule": "D2", "what": what, "certificates": [{"count": 1, "bytes": 600, "names": 1, "kind": "readable",
            **c} for c in certificates],
        "expect": {"answer": "readable", "certificates": expect} if isinstance(expect, int) else {"answer": "failure",
            "code": expect}}))


LIMIT, BAD = "limits-exceeded", "malformed-certificate"
OTHER = {"kind": "unreadable"}
chain("one", "one certificate", 1, {})
chain("none", "no certificate", "empty-chain")
chain("128", "128 certificates", 128, {"count": 128})
chain("129", "129 certificates", LIMIT, {"count": 129})
chain("129-unreadable", "129 certificates that cannot be read", LIMIT, {**OTHER, "count": 129})
chain("262144-bytes", "a certificate of 262,144 bytes", 2, {}, {"bytes": 262144})
chain("262145-bytes", "a certificate of 262,145 bytes", LIMIT, {}, {"bytes": 262145})
chain("262145-bytes-unreadable", "a certificate of 262,145 bytes that cannot be read", LIMIT, {}, {**OTHER, "bytes": 262145})
chain("262145-bytes-behind-bad-leaf", "a leaf that cannot be read, and a certificate of 262,145 bytes", LIMIT, OTHER,
    {"bytes": 262145})
chain("4194304-bytes", "4,194,304 bytes in all", 16, {"count": 16, "bytes": 262144})
chain("4194305-bytes", "4,194,305 bytes in all", LIMIT, {"count": 16, "bytes": 262144}, {**OTHER, "bytes": 1})
chain("4194304-bytes-and-more", "4,194,904 bytes in all", LIMIT, {"count": 16, "bytes": 262144}, {})
chain("4194304-bytes-and-more-behind-bad-leaf", "a leaf that cannot be read, and 4,194,904 bytes in all", LIMIT, OTHER,
    {"count": 16, "bytes": 262144})
chain("bad-leaf", "a leaf that cannot be read", BAD, OTHER, {})
chain("bad-issuer", "a certificate above the leaf that cannot be read", 2, {}, OTHER, {})
chain("bad-only", "no certificate above the leaf can be read", 1, {}, {**OTHER, "count": 3})
chain("explicit-curve-leaf", "a leaf whose key has explicit curve parameters", BAD, {"kind": "explicit-curve"}, {})
chain("explicit-curve-issuer", "a certificate above the leaf whose key has explicit curve parameters", 2, {},
    {"kind": "explicit-curve"}, {})
chain("20000-names", "20,000 names", 20, {"count": 20, "names": 1000, "bytes": 20000})
chain("20001-names", "20,001 names", LIMIT, {"count": 20, "names": 1000, "bytes": 20000}, {})
chain("names-of-unreadable", "the names of a certificate that was dropped do not count", 20, {"count": 20, "names": 1000,
    "bytes": 20000}, OTHER)
chain("names-of-explicit-curve", "the names of a certificate whose key has explicit curve parameters do not count", 20,
    {"count": 20, "names": 1000, "bytes": 20000}, {"kind": "explicit-curve", "names": 1000, "bytes": 20000})
chain("20001-names-behind-unreadable", "20,001 names, the last one behind a certificate that cannot be read", LIMIT,
    {"count": 20, "names": 1000, "bytes": 20000}, OTHER, {})
chain("order-of-certificates", "a leaf that cannot be read before too many names", BAD, OTHER, {"count": 21, "names": 1000,
    "bytes": 20000})

# --- D37 to D40: the question and its answer -------------------------------------------------------------------------------


def question(number, name, what, unacceptable, exceptions, accepts, subject="certificate", shown=(), until=None, complete=True,
    told=False, changed=False, **fields):
    """`accepts` is what the new approval accepts; none if it is refused."""
    fields = {key.replace("validate_", "validate:"): value for key, value in fields.items()}
    VECTORS.append(("questions/d%d-%s" % (number, name), {
        "rule": "D%d" % number, "what": what, **state((), {"unpinnedHosts": "askUser", **fields}), "subject": subject,
            "shown": list(shown), "newExpiresAt": until,
        "recordIsComplete": complete, "userWasTold": told, "changedMeanwhile": changed,
        "expect": {"answer": "refused" if accepts is None else "approved", "unacceptable": unacceptable,
            "exceptions": sorted(exceptions), "accepts": None if accepts is None else sorted(accepts)}}))


SELF = failing("self-signed")
BOTH_WRONG = {"leafFindings": ["name-mismatch", "expired"], "leafHasEnded": True, "validate_system": failing("self-signed",
    "name-mismatch", "expired")}
WRONG_NAME = {"leafFindings": ["name-mismatch"], "validate_system": failing("self-signed", "name-mismatch")}
question(37, "nothing-wrong", "a valid path", None, [], [])
question(37, "usual", "only a failure that each approval accepts", None, [], ["self-signed"], validate_system=SELF)
question(37, "usual-both", "both failures that each approval accepts", None, [], ["self-signed", "untrusted-root"],
    validate_system=failing("untrusted-root", "self-signed"))
question(37, "invalid-signature", "a failure that no approval accepts", "invalid-signature", [], None,
    validate_system=failing("invalid-signature"))
question(37, "other-purpose", "a leaf for another purpose", "unsuitable-purpose", [], None, validate_system=SELF,
    leafIsForOtherPurpose=True)
question(38, "name", "a wrong name that was shown", "name-mismatch", ["name-mismatch"], ["name-mismatch", "self-signed"],
    shown=["name-mismatch"], **WRONG_NAME)
question(38, "both", "a wrong name and an ended leaf that were shown", "expired", ["name-mismatch", "expired"], ["name-mismatch",
    "expired", "self-signed"], shown=["name-mismatch", "expired"], **BOTH_WRONG)
question(38, "and-weak-key", "a wrong name and a weak key: no exceptions", "weak-key", [], None, shown=["name-mismatch"],
    leafFindings=["name-mismatch", "weak-key"], validate_system=failing("self-signed", "name-mismatch"))
question(38, "and-expired-above", "a wrong name, and expired above the leaf: no exceptions", "name-mismatch", [], None,
    shown=["name-mismatch", "expired"], leafFindings=["name-mismatch"], validate_system=failing("expired", "name-mismatch"))
question(38, "and-failure-above", "a wrong name and a failure above the leaf: no exceptions", "name-mismatch", [], None,
    shown=["name-mismatch"], leafFindings=["name-mismatch"], validate_system=failing("not-a-ca", "name-mismatch"))
question(38, "expired-above", "expired is not the leaf's", "expired", [], None, shown=["expired"],
    validate_system=failing("expired"))
question(39, "not-shown", "a wrong name that was not shown", "name-mismatch", ["name-mismatch"], None, **WRONG_NAME)
question(39, "half-shown", "one of two that was shown", "expired", ["name-mismatch", "expired"], None, shown=["name-mismatch"],
    **BOTH_WRONG)
question(39, "key", "an approval of a key with a wrong name", "name-mismatch", ["name-mismatch"], None, subject="key",
    shown=["name-mismatch"], **WRONG_NAME)
question(39, "key-both", "an approval of a key with a wrong name and an ended leaf", "expired", ["name-mismatch", "expired"], None,
    subject="key", shown=["name-mismatch", "expired"], **BOTH_WRONG)
question(39, "more-shown", "more was shown than is wrong", None, [], ["self-signed"], shown=["name-mismatch"], validate_system=SELF)
question(39, "key-usual", "an approval of a key", None, [], ["self-signed"], subject="key", validate_system=SELF)
question(40, "changed-meanwhile", "another approval was stored since the question", None, [], None, changed=True,
    validate_system=SELF)
question(40, "incomplete", "the record is not complete, and the user was not told", None, [], None, complete=False,
    validate_system=SELF)
question(40, "incomplete-told", "the record is not complete, and the user was told", None, [], ["self-signed"], complete=False,
    told=True, validate_system=SELF)
question(40, "incomplete-earlier", "the record is not complete, and there is an earlier approval", None, [], ["self-signed"],
    complete=False, validate_system=SELF, approvals=[approval(revoked=True)])
question(40, "ends-now", "the new approval would end now", None, [], None, until=NOW, validate_system=SELF)
question(40, "ends-in-one-second", "the new approval ends in one second", None, [], ["self-signed"], until=NOW + 1,
    validate_system=SELF)
question(40, "renewed", "an approval that has ended is replaced", None, [], ["self-signed"], validate_system=SELF,
    approvals=[approval(expires=NOW - 1)])
