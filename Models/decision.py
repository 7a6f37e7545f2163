#!/usr/bin/env python3
"""An independent model of Specification/decision.md (sections 1 to 6), written from that text alone.

X5, X13 and X10 are L10 to L12 of the text.

    decision.py list             the families, their dimensions and counts
    decision.py family NAME      one JSON line (dimensions), one JSON line (legend), then the answers
    decision.py laws [NAME ...]  L1 to L9 and the extra laws X1 to X13, over all families (or the named ones)
    decision.py state NAME N     state number N of a family in full, with its answer

VOCABULARY.  A state is a JSON object with the fields below.  A family has `fixed` fields and a list of dimensions; each value
of a dimension is an object of fields.  The state is: the DEFAULTS, then `fixed`, then the chosen value of each dimension, in
order; a later value of a field replaces the earlier one, except for `rule` and `addRule`:
  rule       an object: its members replace members of "the rule" (start: RULE below).  null: no rule; it stays null then.
  addRule    a list of objects: each is one more rule (members that are left out: as in RULE).  Values of several dimensions add up.
  The policy's rules are: the rule (unless null), then all added rules.
The other fields:
  endpoint   {"host": string, "port": number}.  isAddress and isAlias follow from the host (D1).
  clientPath null, or (D36) a list of certificates: the path that the client has validated. Then the `validate:` fields do not count.
  chain      "readable", or the chain failure's code.  With clientPath: the result of reading the path's certificates (D36.2).
  leaf       a certificate.  Every path begins with it.
  alsoSent   certificates that the server sent and that are in no path.
  leafHasEnded, leafIsForOtherPurpose   true or false
  leafFindings     a list of codes (D4)
  validate:NAME    the answer of validate() for the set of anchors NAME, {"failure": [codes, any order]} or {"paths": [path, ...]}.
                   NAME is "system" or the `anchors` of a rule.
  unpinnedHosts    "systemTrust", "reject", "askUser"
  approvals  a list of {"host", "port", "subject", "accepts": [codes], "expiresAt": null or seconds, "isRevoked"}
  now, newestKnownTime   seconds since 1970; newestKnownTime may be null
A certificate is "KEY/CERT": the identities of its key and of the whole; the KEY "-" is a key that cannot be read.
A subject is "key:KEY" or "cert:CERT".  A pin is SUBJECT@POSITION, as "key:kA@leaf".  A path is a list of certificates, leaf first.
A rule: host, port (null: every port), includeSubdomains, pins, backupPins, requires, enforcement, minimumPathLength, issuerKey
(KEY or null), anchors (NAME), expiry ("never" or {"after": seconds, "then": "systemTrust" or "reject"}).

ANSWERS.  Mixed radix, the last dimension fastest: in every line but the last 1,000 characters, each the answer of one state.  The
legend maps the character to the answer:
  {"answer", "reason"} and
    invalid-path        "code": the failure's code; "term" if D31 gave it
    unknown-host        "code": the code of the failure of validate(system), or null if it was valid
    pin-matched         "depth", "backup", "pin": list and index of the pin, as "pins[0]" (of the rule that decides)
    pins-expired        "suspicious"
Families with another `kind` than "decision" have other fields and answers:
  kind "vouch"      the field `A` (codes).  {"path": "first" or "leaf"}, or {"code", "findings": set in the order of D3}
  kind "question"   the fields `subject` ("key" or "certificate") and `shown` (codes that the user saw).
                    {"unacceptable": code or null, "exceptions": [...], "accepts": [...] or null if refused by D39}
  kind "answering"  the fields of "question" and `stored` ("same" or "changed": D40.1), `earlier`, `complete`, `told` (D40.2),
                    `answerTime`, `newExpiresAt`.  {"stored": true or false}
  kind "reading"    D2. `sizes`: a list of runs [count, bytes each]; `tooManyParts`: positions; `unreadable`: positions; `names`:
                    {position: number}, 1 elsewhere.  Positions count from 0; those beyond the end have no effect.
                    {"chain": "readable" or code, "kept": number of certificates that were read}
"""
import ipaddress
import itertools
import json
import sys
import time

CODES = ["empty-chain", "limits-exceeded", "malformed-certificate", "invalid-signature", "self-signed", "untrusted-root",
         "not-a-ca", "path-length-exceeded", "name-constraint-violation", "unhandled-critical-extension",
         "no-valid-certificate-policy", "unsuitable-purpose", "weak-key", "weak-signature", "not-yet-valid", "expired",
         "name-mismatch", "other"]
ORDER = {code: place for place, code in enumerate(CODES)}
USUAL = frozenset(["self-signed", "untrusted-root"])
ACCEPTABLE = ["self-signed", "untrusted-root", "name-mismatch", "expired"]
COMBINATIONS = [("trusted", "pin-matched"), ("trusted", "host-not-pinned"), ("trusted", "pins-expired"),
                ("rejected", "pins-expired"), ("trusted", "mismatch-reported-only"), ("trusted", "user-approved"),
                ("rejected", "pin-mismatch"), ("rejected", "host-not-allowed"), ("rejected", "unknown-host"),
                ("rejected", "invalid-path")]


# ---------------------------------------------------------------------------------------------------------------------------
# 1. The decision.  A state is a dict (see `read`); a certificate is (key or None, certificate); a validation is
#    ("failure", code, findings) or ("paths", [path, ...]).  The code is kept beside the findings because of D23.5.
# ---------------------------------------------------------------------------------------------------------------------------

def is_alias(host):                                                                                             # D1
    if not is_address(host):
        return False
    address = ipaddress.ip_address(host)
    if address.version == 4:
        return address == ipaddress.IPv4Address("0.0.0.0")
    return address == ipaddress.IPv6Address("::") or address in ipaddress.IPv6Network("::ffff:0:0/96")


def is_address(host):
    try:
        ipaddress.ip_address(host)
        return True
    except ValueError:
        return False


def read_chain(certificates):                                                                                   # D2
    """Each certificate: {"bytes", "tooManyParts", "unreadable", "names"}. -> (failure or None, how many were read)"""
    if len(certificates) > 128:                                                                                 # D2.1
        return "limits-exceeded", 0
    if any(c["bytes"] > 262144 for c in certificates):                                                          # D2.2
        return "limits-exceeded", 0
    if sum(c["bytes"] for c in certificates) > 4194304:                                                         # D2.3
        return "limits-exceeded", 0
    names = 0
    kept = 0
    for depth, c in enumerate(certificates):                                                                    # D2.4
        if c["tooManyParts"]:
            return "limits-exceeded", 0
        if c["unreadable"]:
            if depth == 0:
                return "malformed-certificate", 0
            continue                                          # dropped: its names are not names "that were read"
        kept += 1
        names += c["names"]
        if names > 20000:
            return "limits-exceeded", 0
    if not certificates:                                                                                        # D2.5
        return "empty-chain", 0
    return None, kept


def code_of(findings):                                                                                          # D3
    return min(findings, key=ORDER.__getitem__)


def failure(findings):
    return ("failure", code_of(findings), frozenset(findings))


def failed(validation):
    return validation[0] == "failure"


def validate(s, anchors):                                                                                       # D36.1
    if s["clientPath"] is not None:
        return ("paths", [s["clientPath"]])
    return s["validate:" + anchors]


def validate_leaf(s, without):                                                                                  # D4
    """The findings that remain; none of them: the path [leaf]."""
    return [code for code in s["leafFindings"] if code not in without]


def is_subdomain(host, of):                                                                                     # D8.2
    return host.endswith("." + of) and len(host) > len(of) + 1


def covers(rule, endpoint):                                                                                     # D8
    if rule["port"] is not None and rule["port"] != endpoint["port"]:
        return False
    if rule["host"] == endpoint["host"]:
        return True
    return rule["includeSubdomains"] and not endpoint["isAddress"] and is_subdomain(endpoint["host"], rule["host"])


def deciding_rule(s):                                                                                       # D9, D10
    endpoint = s["endpoint"]
    covering = [rule for rule in s["rules"] if covers(rule, endpoint)]
    if not covering:
        return None
    return min(covering, key=lambda rule: (0 if rule["port"] is not None else 1,
                                           0 if rule["host"] == endpoint["host"] else 1,
                                           -len(rule["host"])))


def meets_length(rule, path):                                                                                   # D11.1
    return rule["minimumPathLength"] is None or len(path) >= rule["minimumPathLength"]


def meets_issuer(rule, path):                                                                                   # D11.2
    return rule["issuerKey"] is None or (len(path) > 1 and path[1][0] == rule["issuerKey"])


def meets_terms(rule, path):                                                                                    # D11
    return meets_length(rule, path) and meets_issuer(rule, path)


def pin_matches(pin, certificate, depth):                                                                       # D12
    kind, identity, position = pin
    if kind == "key":
        if certificate[0] is None or certificate[0] != identity:
            return False
    elif certificate[1] != identity:
        return False
    return position == "any" or (position == "leaf" and depth == 0) or (position == "ca" and depth >= 1)


def first_match(rule, path, start):                                                                     # D13, D14
    """(depth, is it a backup pin, index in its list), or None"""
    for depth in range(start, len(path)):
        for kind in ("key", "cert"):
            for list_name in ("pins", "backupPins"):
                for index, pin in enumerate(rule[list_name]):
                    if pin[0] == kind and pin_matches(pin, path[depth], depth):
                        return (depth, list_name == "backupPins", index)
    return None


def match_of(rule, path):                                                                               # D15, D16
    match = first_match(rule, path, 0)
    if rule["requires"] == "anyPin":
        return match
    if match is not None and match[0] == 0 and first_match(rule, path, 1) is not None:
        return match
    return None


def has_pins(rule):                                                                                             # D32
    return bool(rule["pins"] or rule["backupPins"])


def pins_have_expired(rule, now):                                                                               # D17
    return rule["expiry"] != "never" and now >= rule["expiry"]["after"]


def clock_is_suspicious(s):                                                                             # D18, D36.3
    if s["clientPath"] is not None:
        return False
    return s["newestKnownTime"] is not None and s["now"] - s["newestKnownTime"] > 34560000


def own_approval(s):                                                                                            # D19
    for approval in s["approvals"]:
        if approval["host"] == s["endpoint"]["host"] and approval["port"] == s["endpoint"]["port"]:
            return approval
    return None


def is_of_this_leaf(s, approval):                                                                               # D20
    kind, identity = approval["subject"]
    key, certificate = s["leaf"]
    if kind == "key":
        return key is not None and identity == key
    return identity == certificate


def standing(s):                                                                                                # D21
    approval = own_approval(s)
    if approval is None:
        return "unknown"
    if approval["isRevoked"]:
        return "unknown"
    if approval["expiresAt"] is not None and s["now"] >= approval["expiresAt"]:
        return "unknown" if is_of_this_leaf(s, approval) else "changed"
    return "approved" if is_of_this_leaf(s, approval) else "changed"


def can_accept(approval):                                                                                       # D22
    if approval["subject"][0] == "key":
        return USUAL
    return frozenset(ACCEPTABLE)


def vouch(s, A):                                                                                                # D23
    """("path", "first" or "leaf"), or ("failure", code, findings)"""
    A = set(A)
    if not s["leafHasEnded"]:                                                                                   # D23.1
        A.discard("expired")
    system = validate(s, "system")
    if not failed(system):                                                                                      # D23.2
        return ("path", "first")
    F = system
    if any(code in USUAL and code not in A for code in F[2]):                                                   # D23.3
        return F
    R = set(validate_leaf(s, A - USUAL))                                                                        # D23.4
    if s["leafIsForOtherPurpose"]:
        R.add("unsuitable-purpose")
    if R:                                                                                                       # D23.5
        return ("failure", code_of(R), frozenset(R | {code for code in F[2] if code in A}))
    if F[1] in A:                                                                                               # D23.6
        return ("path", "leaf")
    return F                                                                                                    # D23.7


# The answer: (answer, reason, details, rule). `details` is what D6 and D7 ask for; `rule` is not part of the answer (L4 uses it).
def trusted(reason, rule, *details):
    return ("trusted", reason, details, rule)


def rejected(reason, rule, *details):
    return ("rejected", reason, details, rule)


def choose_path(s, rule, paths):                                                                                # D29
    if rule is None:
        return paths[0]
    for path in paths:
        if meets_terms(rule, path) and (match_of(rule, path) is not None or not has_pins(rule)
                                        or pins_have_expired(rule, s["now"])):
            return path
    for path in paths:
        if meets_terms(rule, path):
            return path
    return paths[0]


def decide_by_user(s):                                                                                          # D27
    if s["chain"] != "readable":                                # only with a client's path; D24 has the others       D36.2
        return rejected("invalid-path", "D36", s["chain"])
    found = standing(s)
    if found == "changed":
        return rejected("pin-mismatch", "D27")
    if found == "unknown":
        system = validate(s, "system")
        return rejected("unknown-host", "D27", system[1] if failed(system) else None)
    approval = own_approval(s)
    result = vouch(s, approval["accepts"] & can_accept(approval))
    if failed(result):
        return rejected("invalid-path", "D27", result[1])
    return trusted("user-approved", "D27")


def decide(s):
    if s["clientPath"] is None and s["chain"] != "readable":                                            # D24 (D36.1)
        return rejected("invalid-path", "D24", s["chain"])
    rule = deciding_rule(s)
    if rule is None and s["unpinnedHosts"] == "reject":                                                         # D25
        return rejected("host-not-allowed", "D25")
    if s["endpoint"]["isAlias"]:                                                                                # D26
        return rejected("invalid-path", "D26", "other")
    if rule is None and s["unpinnedHosts"] == "askUser":                                                        # D27
        return decide_by_user(s)
    validation = validate(s, "system" if rule is None else rule["anchors"])
    if failed(validation):                                                                                      # D28
        return rejected("invalid-path", "D28", validation[1])
    path = choose_path(s, rule, validation[1])                                                                  # D29
    if rule is None:                                                                                            # D30
        return trusted("host-not-pinned", "D30")
    if not meets_length(rule, path):                                                                            # D31
        return rejected("invalid-path", "D31", "other", "minimumPathLength")
    if not meets_issuer(rule, path):                                                                            # D31
        return rejected("invalid-path", "D31", "other", "issuerKey")
    if not has_pins(rule):                                                                                      # D32
        return trusted("host-not-pinned", "D32")
    if pins_have_expired(rule, s["now"]):                                                                       # D33
        if rule["expiry"]["then"] == "systemTrust":
            return trusted("pins-expired", "D33", clock_is_suspicious(s))
        return rejected("pins-expired", "D33", clock_is_suspicious(s))
    match = match_of(rule, path)
    if match is not None:                                                                                       # D34
        return trusted("pin-matched", "D34", *match)
    if rule["enforcement"] == "enforce":                                                                        # D35
        return rejected("pin-mismatch", "D35")
    return trusted("mismatch-reported-only", "D35")


# Section 6

def unacceptable(s):                                                                                            # D37
    result = vouch(s, USUAL)
    return result if failed(result) else None


def exceptions(s):                                                                                              # D38
    found = set()
    R = unacceptable(s)
    if R is None:
        return frozenset()
    while True:
        new = {code for code in ("name-mismatch", "expired") if code in R[2]} - found
        if not new:
            return frozenset()
        found |= new
        R = vouch(s, USUAL | found)
        if not failed(R):
            return frozenset(found)


def accepts_of_answer(s, subject, shown):                                                                       # D39
    """The set that the new approval accepts, or None if it is refused."""
    more = exceptions(s)
    if unacceptable(s) is not None and (subject == "key" or not more or not more <= set(shown)):
        return None
    system = validate(s, "system")
    accepts = {code for code in USUAL if failed(system) and code in system[2]}
    if subject == "certificate":
        accepts |= more
    return frozenset(accepts)


def is_stored(s):                                                                                       # D39, D40
    if s["stored"] == "changed":
        return False
    if not s["earlier"] and not s["complete"] and not s["told"]:
        return False
    if s["newExpiresAt"] is not None and not s["newExpiresAt"] > s["answerTime"]:
        return False
    return accepts_of_answer(s, s["subject"], s["shown"]) is not None


# ---------------------------------------------------------------------------------------------------------------------------
# 2. From the vocabulary to a state
# ---------------------------------------------------------------------------------------------------------------------------
NOW = 2000000000
DAY = 86400
HOST = "www.example.com"

RULE = {"host": HOST, "port": None, "includeSubdomains": False, "pins": [], "backupPins": [], "requires": "anyPin",
        "enforcement": "enforce", "expiry": "never", "minimumPathLength": None, "issuerKey": None, "anchors": "R"}
GOOD = {"paths": [["kL/cL", "kI/cI", "kR/cR"]]}
DEFAULTS = {"endpoint": {"host": HOST, "port": 443}, "clientPath": None, "chain": "readable", "leaf": "kL/cL", "alsoSent": [],
            "leafHasEnded": False, "leafIsForOtherPurpose": False, "leafFindings": [],
            "validate:system": GOOD, "validate:R": GOOD, "unpinnedHosts": "systemTrust", "approvals": [],
            "now": NOW, "newestKnownTime": None, "rule": {}}


def read_certificate(text):
    key, certificate = text.split("/")
    return (None if key == "-" else key, certificate)


def read_path(texts):
    return [read_certificate(text) for text in texts]


def read_pin(text):
    subject, position = text.split("@")
    return tuple(subject.split(":")) + (position,)


def read_rule(members):
    read = dict(members)
    for name in ("pins", "backupPins"):
        if name in read:
            read[name] = [read_pin(text) for text in read[name]]
    return read


def read_approval(approval):
    return dict(approval, subject=tuple(approval["subject"].split(":")), accepts=frozenset(approval["accepts"]))


def read_field(name, value):
    if name == "endpoint":
        return dict(value, isAddress=is_address(value["host"]), isAlias=is_alias(value["host"]))
    if name == "leaf":
        return read_certificate(value)
    if name == "alsoSent" or (name == "clientPath" and value is not None):
        return read_path(value)
    if name.startswith("validate:"):
        if "failure" in value:
            return failure(value["failure"])
        return ("paths", [read_path(path) for path in value["paths"]])
    if name == "rule" and value is not None:
        return read_rule(value)
    if name == "addRule":
        return [dict(read_rule(RULE), **read_rule(rule)) for rule in value]
    if name == "approvals":
        return [read_approval(approval) for approval in value]
    return value


def read(values):
    return {name: read_field(name, value) for name, value in values.items()}


def build(parts):
    """The state of the parts (each one is a dict of read fields): see VOCABULARY."""
    s = {}
    rule = read_rule(RULE)
    added = []
    for part in parts:
        s.update(part)
        if "rule" in part:
            if part["rule"] is None:
                rule = None
            elif rule is not None:
                rule = dict(rule, **part["rule"])
        if "addRule" in part:
            added = added + part["addRule"]
    s["rules"] = ([rule] if rule is not None else []) + added
    return s


def states(family):
    start = [read(DEFAULTS), read(family["fixed"])]
    dimensions = [[read(value) for value in values] for _, values in family["dimensions"]]
    for chosen in itertools.product(*dimensions):
        yield build(start + list(chosen))


# ---------------------------------------------------------------------------------------------------------------------------
# 3. The families
# ---------------------------------------------------------------------------------------------------------------------------

def each(name, values):
    return [{name: value} for value in values]


def of_rule(name, values):
    return [{"rule": {name: value}} for value in values]


def subsets(items):
    return [[item for place, item in enumerate(items) if bits >> place & 1] for bits in range(2 ** len(items))]


ENFORCEMENT = of_rule("enforcement", ["enforce", "reportOnly"])
UNPINNED = each("unpinnedHosts", ["systemTrust", "reject", "askUser"])


def pins(active, backup=(), requires="anyPin"):
    return {"rule": {"pins": list(active), "backupPins": list(backup), "requires": requires}}


NO_PINS = pins([])

# Certificates by class and depth: A active key, B backup key, F foreign, U unreadable, P active by certificate, Q backup by
# certificate, V active by certificate with an unreadable key, X backup by key and active by certificate
CLASS = {"A": "kA/cA%d", "B": "kB/cB%d", "F": "kF%d/cF%d", "U": "-/cU%d", "P": "kP%d/cP%d", "Q": "kQ%d/cQ%d", "V": "-/cV%d",
         "X": "kB/cX%d"}


def certificate_of(letter, depth):
    return CLASS[letter].replace("%d", str(depth))


def class_paths(*classes):
    """All paths of 1 up to len(classes) certificates, with the classes that are given for each depth."""
    for length in range(1, len(classes) + 1):
        for letters in itertools.product(*classes[:length]):
            yield [certificate_of(letter, depth) for depth, letter in enumerate(letters)]


def one_path(path):
    return {"leaf": path[0], "validate:R": {"paths": [path]}}


def at(position, subjects):
    return [subject + "@" + position for subject in subjects]


ACTIVE_CERTS = ["cert:c%s%d" % (letter, depth) for depth in range(4) for letter in "PVX"]
BACKUP_CERTS = ["cert:cQ%d" % depth for depth in range(4)]
KA, KB = ["key:kA"], ["key:kB"]

PIN_SETS = (
    [pins(at(p, KA), at(q, KB)) for p in ("any", "leaf", "ca") for q in ("any", "leaf", "ca")]
    + [pins(at("any", KA)), pins(at("ca", KA), at("ca", KA))]
    + [pins(at(p, ACTIVE_CERTS), at(p, BACKUP_CERTS)) for p in ("any", "leaf", "ca")]
    + [pins(at("any", ACTIVE_CERTS + KA), at("any", BACKUP_CERTS + KB)),                       # D14: keys before certificates
       pins(at("any", ACTIVE_CERTS), at("any", KB)),                                           # D14: a backup key first
       pins(at("leaf", KA) + at("any", KA) + at("ca", KA), at("any", KB)),                     # D14: the order of the list
       pins(at("any", KA), at("any", KA + KB))]                                                # the same pin in both lists
    + [pins(at("leaf", KA) + at("ca", KA), backup, requires)
       for backup in ([], at("leaf", KB), at("ca", KB), at("leaf", KB) + at("ca", KB)) for requires in ("anyPin", "leafAndCA")]
    + [pins(at("leaf", ACTIVE_CERTS) + at("ca", KA), at("leaf", KB) + at("ca", BACKUP_CERTS), "leafAndCA"),
       pins(at("ca", ACTIVE_CERTS) + at("leaf", KA), at("leaf", BACKUP_CERTS) + at("ca", KB), "leafAndCA"),
       pins(at("leaf", ACTIVE_CERTS + KA) + at("ca", ACTIVE_CERTS + KA), at("leaf", BACKUP_CERTS + KB) + at("ca", BACKUP_CERTS + KB),
            "leafAndCA"),
       pins(["key:kNobody@leaf", "key:kNobody@ca"], at("leaf", KB) + at("ca", KB), "leafAndCA")])

NOT_SYSTEM = {"validate:system": {"failure": ["untrusted-root"]}}       # where the rule's anchors differ: D28 must not use it
MATCH = {"kind": "decision", "what": "D11-D16, D34, D35: each class of certificate at each depth, each kind of pin", "fixed": NOT_SYSTEM,
         "dimensions": [("pins", PIN_SETS),
                        ("path", [one_path(path) for path in class_paths("ABFPQX", "ABFUPQVX", "ABFUPQVX", "ABFUPQVX")]),
                        ("enforcement", ENFORCEMENT)]}

PAST_OR_NOT = of_rule("expiry", ["never", {"after": NOW - DAY, "then": "systemTrust"}, {"after": NOW - DAY, "then": "reject"}])


def key_paths(leaves, others, longest):
    for leaf in leaves:
        for length in range(longest):
            for tail in itertools.product(others, repeat=length):
                yield [leaf + "/c0"] + ["%s/c%d" % (key, depth + 1) for depth, key in enumerate(tail)]


TERMS = {"kind": "decision", "what": "D11, D31 with D12, D32, D33: terms x paths x pins x expiry", "fixed": NOT_SYSTEM,
         "dimensions": [("minimumPathLength", of_rule("minimumPathLength", [None, 1, 2, 3, 4, 5, 10])),
                        ("issuerKey", of_rule("issuerKey", [None, "kI"])),
                        ("path", [one_path(path) for path in key_paths(["kA", "kI", "kF"], ["kA", "kI", "kF", "-"], 4)]),
                        ("pins", [NO_PINS, pins(["key:kA@any"]), pins(["key:kA@leaf", "key:kI@ca"], [], "leafAndCA")]),
                        ("enforcement", ENFORCEMENT), ("expiry", PAST_OR_NOT)]}

TAILS = [[], ["kI/cI1"], ["kA/cA1"], ["kF/cF1"], ["kI/cI1", "kA/cA2"], ["kF/cF1", "kI/cI2"], ["kF/cF1", "kA/cA2"],
         ["kA/cA1", "kB/cB2"], ["-/cU1", "kB/cB2"]]


def path_lists():
    yield {"validate:R": {"failure": ["expired"]}}
    for leaf in ("kA/c0", "kF/c0"):
        for number in (1, 2):
            for tails in itertools.product(TAILS, repeat=number):
                yield {"leaf": leaf, "validate:R": {"paths": [[leaf] + tail for tail in tails]}}
        for tails in itertools.permutations([TAILS[0], TAILS[1], TAILS[4], TAILS[6]], 3):
            yield {"leaf": leaf, "validate:R": {"paths": [[leaf] + tail for tail in tails]}}


CHOICE = {"kind": "decision", "what": "D29: 0 to 3 valid paths x terms x pins x expiry", "fixed": NOT_SYSTEM,
          "dimensions": [("paths", list(path_lists())),
                         ("minimumPathLength", of_rule("minimumPathLength", [None, 2, 3])),
                         ("issuerKey", of_rule("issuerKey", [None, "kI"])),
                         ("pins", [NO_PINS, pins(["key:kA@any"]), pins(["key:kA@ca"], ["key:kB@ca"]), pins(["key:kF@leaf"]),
                                   pins(["key:kNobody@any"], ["key:kB@any"]),
                                   pins(["key:kA@leaf", "key:kA@ca"], ["key:kF@leaf", "key:kB@ca"], "leafAndCA")]),
                         ("enforcement", ENFORCEMENT),
                         ("expiry", PAST_OR_NOT + of_rule("expiry", [{"after": NOW + DAY, "then": "reject"}]))]}

EXPIRIES = of_rule("expiry", ["never"] + [{"after": NOW + distance, "then": then} for then in ("systemTrust", "reject")
                                          for distance in (-1000 * DAY, -1, 0, 1, 1000 * DAY)])
NEWEST = each("newestKnownTime", [None, NOW + DAY, NOW, NOW - DAY, NOW - 34560000 + 1, NOW - 34560000, NOW - 34560000 - 1,
                                  NOW - 1000 * DAY])
EXPIRY = {"kind": "decision", "what": "D17, D18, D32, D33: expiry x clock x pins x enforcement x terms x validation", "fixed": {},
          "dimensions": [("expiry", EXPIRIES), ("newestKnownTime", NEWEST),
                         ("pins", [NO_PINS, pins(["key:kL@any"]), pins(["key:kNobody@any"]), pins(["key:kNobody@any"], ["key:kR@ca"]),
                                   pins(["key:kL@leaf", "key:kI@ca"], [], "leafAndCA"),
                                   pins(["key:kL@leaf", "key:kNobody@ca"], [], "leafAndCA")]),
                         ("enforcement", ENFORCEMENT),
                         ("terms", [{"rule": {"minimumPathLength": length, "issuerKey": key}}
                                    for length, key in ((None, None), (3, "kI"), (4, None), (None, "kR"), (4, "kR"))]),
                         ("validation", [{"validate:R": result} for result in (
                             GOOD, {"failure": ["expired"]}, {"paths": [["kL/cL", "kR/cR"], ["kL/cL", "kI/cI", "kR/cR"]]},
                             {"paths": [["kL/cL"]]})])]}

SUBSECOND = {"kind": "decision", "what": "D17, D18 with fractions of a second (leave it out if instants are whole seconds)",
             "fixed": {"rule": {"pins": ["key:kL@any"]}},
             "dimensions": [("now", each("now", [NOW - 0.5, NOW, NOW + 0.5])),
                            ("expiry", of_rule("expiry", ["never"] + [{"after": NOW + d, "then": then}
                                                                      for then in ("systemTrust", "reject") for d in (-1, 0, 1)])),
                            ("newestKnownTime", each("newestKnownTime", [None, NOW - 34560000]))]}

# One failure code for each rule, so that the answer tells which rule decided (D9)
RULE_CODES = {"S0": 3, "S1": 6, "S2": 7, "S3": 8, "S4": 9, "S5": 10, "S6": 12, "S7": 13, "S8": 14}


def slot(number, host, port):
    return ("rule %d" % number, [{}] + [{"addRule": [{"host": host, "port": port, "includeSubdomains": sub, "anchors": "S%d" % number}]}
                                        for sub in (False, True)])


HOSTS = {"kind": "decision", "what": "D8-D10, D25, D30: all sets of rules over three nested hosts and ports",
         "fixed": dict({"rule": None}, **{"validate:" + name: {"failure": [CODES[code]]} for name, code in RULE_CODES.items()}),
         "dimensions": [("endpoint", each("endpoint", [{"host": host, "port": port} for host, port in (
             ("www.example.com", 443), ("www.example.com", 80), ("example.com", 443), ("a.www.example.com", 443),
             ("a.www.example.com", 80), ("b.a.www.example.com", 443), ("notexample.com", 443), ("www.example.com", 0),
             ("www.example.com.test", 443), ("com", 443))])),
             slot(0, "example.com", None), slot(1, "example.com", 443), slot(2, "www.example.com", None),
             slot(3, "www.example.com", 443), slot(4, "a.www.example.com", None), slot(5, "a.www.example.com", 443),
             slot(6, "www.example.com", 80),
             ("unpinnedHosts", UNPINNED)]}

CONFIGS = [{}, {"pins": ["key:kL@any"]}, {"pins": ["key:kNobody@any"], "backupPins": ["key:kNone@any"]},
           {"pins": ["key:kNobody@any"], "enforcement": "reportOnly"},
           {"pins": ["key:kNobody@any"], "expiry": {"after": NOW, "then": "systemTrust"}},
           {"pins": ["key:kL@any"], "expiry": {"after": NOW, "then": "reject"}},
           {"minimumPathLength": 4}, {"issuerKey": "kR"}, {"pins": ["key:kL@leaf", "key:kNobody@ca"], "requires": "leafAndCA"}]
PLACES = [({"host": HOST, "port": None}, {"host": "example.com", "port": None, "includeSubdomains": True}),
          ({"host": HOST, "port": None}, {"host": "example.com", "port": 443, "includeSubdomains": True}),
          ({"host": HOST, "port": 443}, {"host": HOST, "port": None}),
          ({"host": HOST, "port": 443}, {"host": "example.com", "port": 443, "includeSubdomains": True}),
          ({"host": HOST, "port": 8443}, {"host": "example.com", "port": None, "includeSubdomains": True}),
          ({"host": HOST, "port": 8443}, {"host": HOST, "port": 80})]
POOLING = {"kind": "decision", "what": "D9, D10, D28: two rules with different pins, terms, expiry and anchors",
           "fixed": {"rule": None},
           "dimensions": [("rules", [{"addRule": [dict(one, anchors="S1", **place[0]), dict(other, anchors="S2", **place[1])]}
                                     for place in PLACES for one in CONFIGS for other in CONFIGS]),
                          ("validation 1", each("validate:S1", [GOOD, {"failure": ["weak-key"]}])),
                          ("validation 2", each("validate:S2", [GOOD, {"failure": ["weak-signature"]}])),
                          ("validation system", each("validate:system", [GOOD, {"failure": ["untrusted-root"]}])),
                          ("alsoSent", each("alsoSent", [[], ["kNobody/cNobody"]])),
                          ("unpinnedHosts", UNPINNED)]}


def approval(subject, accepts=(), host=HOST, port=443, expires=None, revoked=False):
    return {"host": host, "port": port, "subject": subject, "accepts": list(accepts), "expiresAt": expires, "isRevoked": revoked}


ALIAS = ["0.0.0.0", "::", "::ffff:c000:201", "::ffff:0:0", "::ffff:ffff:ffff"]
NO_ALIAS = ["192.0.2.1", "2001:db8::1", "::1", "::fffe:ffff:ffff", "0.0.0.1"]
FIRST = {"kind": "decision", "what": "D1, D24-D28, D30: the first steps against each other", "fixed": {},
         "dimensions": [("endpoint", each("endpoint", [{"host": HOST, "port": 443}, {"host": HOST, "port": 0}]
                                          + [{"host": host, "port": 443} for host in ALIAS + NO_ALIAS])),
                        ("chain", each("chain", ["readable", "empty-chain", "limits-exceeded", "malformed-certificate"])),
                        ("rule", [{"rule": None}] + [{"rule": dict(where, pins=["key:kL@any"])} for where in (
                            {"host": HOST}, {"host": HOST, "port": 8443}, {"host": "example.com", "includeSubdomains": True},
                            {"host": "example.com"}, {"host": "192.0.2.1"}, {"host": "2001:db8::1", "port": 443})]),
                        ("unpinnedHosts", UNPINNED),
                        ("system", each("validate:system", [GOOD] + [{"failure": [code]} for code in ("empty-chain", "untrusted-root",
                                                                                                      "expired", "other")])),
                        ("rule's anchors", each("validate:R", [GOOD, {"failure": ["weak-key", "self-signed"]}])),
                        ("approval", each("approvals", [[]] + [
                            [approval(subject, ACCEPTABLE, host, port) for host in [HOST] + ALIAS + NO_ALIAS for port in (0, 443)]
                            for subject in ("cert:cL", "key:kOther")]))]}

FAILURE_RULES = [{"rule": None, "unpinnedHosts": "systemTrust"}, {"rule": None, "unpinnedHosts": "askUser"}] + [
    {"rule": config} for config in CONFIGS + [{"pins": ["key:kNobody@any"], "expiry": {"after": NOW, "then": "systemTrust"},
                                               "enforcement": "reportOnly"}]]


def pairs():
    """All pairs of codes, the less fundamental one first (D3)."""
    return [[second, first] for first, second in itertools.combinations(CODES, 2)]


FAILURES = {"kind": "decision", "what": "D3, D6, D28: each code and each pair, with each kind of rule", "fixed": {},
            "dimensions": [("failure", [{"validate:R": {"failure": codes}, "validate:system": {"failure": codes}}
                                        for codes in [[code] for code in CODES] + pairs()]),
                           ("rule", FAILURE_RULES),
                           ("approval", each("approvals", [[], [approval("cert:cL", ACCEPTABLE)], [approval("key:kOther")]]))]}

SUBJECTS = ["key:kL", "cert:cL", "key:kOther", "cert:cOther", "key:kI", "cert:cI"]
OWN = [[]] + [[approval(subject, accepts, expires=expires, revoked=revoked)]
              for subject in SUBJECTS for accepts in ([], ["untrusted-root"], ACCEPTABLE)
              for expires in (None, NOW - 1, NOW, NOW + 1) for revoked in (False, True)]
OTHERS = [[]] + [[approval(subject, ACCEPTABLE, host, port)] for subject in ("key:kL", "key:kOther")
                 for host, port in ((HOST, 8443), ("example.com", 443), ("a." + HOST, 443))]
STANDING = {"kind": "decision", "what": "D19-D22, D27, L6: approvals of this and of other endpoints", "fixed": {},
            "dimensions": [("approvals", each("approvals", [other + own for own in OWN for other in OTHERS])),
                           ("rule", [{"rule": None}, {"rule": {"pins": ["key:kL@any"]}}, {"rule": {"port": 8443}}]),
                           ("unpinnedHosts", UNPINNED),
                           ("system", each("validate:system", [GOOD] + [{"failure": codes} for codes in (
                               ["untrusted-root"], ["name-mismatch", "untrusted-root"], ["expired"])]))]}

# Findings for D23: each code alone, each pair with a code that can be accepted, and all sets of three or four of these
ACCEPT_PAIRS = [pair for pair in pairs() if set(pair) & set(ACCEPTABLE)]
FAILURES_OF_SYSTEM = [[code] for code in CODES] + ACCEPT_PAIRS + [
    list(reversed(codes)) for size in (3, 4) for codes in itertools.combinations(ACCEPTABLE, size)]
SYSTEM = each("validate:system", [GOOD] + [{"failure": codes} for codes in FAILURES_OF_SYSTEM])


def leaf_states(others):
    """The leaf's own findings, with its end and purpose: `expired` only if it has ended."""
    return [{"leafFindings": ([other] if other else []) + names + (["expired"] if end == "found" else []),
             "leafHasEnded": end != "not ended", "leafIsForOtherPurpose": purpose}
            for other in others for names in ([], ["name-mismatch"]) for end in ("not ended", "ended", "found")
            for purpose in (False, True)]


LEAF = leaf_states([None, "malformed-certificate", "self-signed", "untrusted-root", "weak-key", "weak-signature", "not-yet-valid",
                    "other"])
APPROVED = {"kind": "decision", "what": "D22, D23, D27: an approval of this leaf, with each accepted subset",
            "fixed": {"rule": None, "unpinnedHosts": "askUser"},
            "dimensions": [("system", SYSTEM), ("leaf", leaf_states([None, "self-signed", "weak-key", "other"])),
                           ("approval", each("approvals", [[approval(subject, accepts)] for subject in ("key:kL", "cert:cL")
                                                           for accepts in subsets(ACCEPTABLE)]))]}
VOUCH = {"kind": "vouch", "what": "D3, D4, D23: vouch(A)", "fixed": {},
         "dimensions": [("system", SYSTEM), ("leaf", LEAF), ("A", each("A", subsets(ACCEPTABLE)))]}
QUESTION = {"kind": "question", "what": "D37-D39", "fixed": {},
            "dimensions": [("system", SYSTEM), ("leaf", LEAF), ("subject", each("subject", ["key", "certificate"])),
                           ("shown", each("shown", subsets(["name-mismatch", "expired"])))]}
ANSWERING = {"kind": "answering", "what": "D39, D40", "fixed": {},
             "dimensions": [("system", each("validate:system", [GOOD] + [{"failure": codes} for codes in (
                 ["untrusted-root"], ["name-mismatch", "untrusted-root"], ["weak-key"])])),
                 ("leaf", leaf_states([None])), ("subject", each("subject", ["key", "certificate"])),
                 ("shown", each("shown", [[], ["name-mismatch", "expired"]])),
                 ("stored", each("stored", ["same", "changed"])), ("earlier", each("earlier", [False, True])),
                 ("complete", each("complete", [False, True])), ("told", each("told", [False, True])),
                 ("times", [{"answerTime": NOW, "newExpiresAt": expires} for expires in (None, NOW - 1, NOW, NOW + 1)])]}


def client_paths():
    for path in class_paths("AFPUV", "ABFUV", "AF"):
        path = {"clientPath": path, "leaf": path[0]}
        if path["leaf"].startswith("-/"):                         # D2.4.2: the leaf's key cannot be read
            yield dict(path, chain="malformed-certificate")
        else:
            for chain in ("readable", "limits-exceeded"):
                yield dict(path, chain=chain)


CLIENT_PINS = {"pins": at("any", KA + ACTIVE_CERTS), "backupPins": at("any", KB)}
CLIENT = {"kind": "decision", "what": "D36: a path that the client has validated",
          "fixed": {"validate:system": {"failure": ["other"]}, "validate:R": {"failure": ["other"]}},
          "dimensions": [("path", list(client_paths())),
                         ("endpoint", each("endpoint", [{"host": HOST, "port": 443}, {"host": "::ffff:c000:201", "port": 443}])),
                         ("rule", [{"rule": None}] + [{"rule": dict(CLIENT_PINS, **more)} for more in (
                             {}, {"enforcement": "reportOnly"}, {"minimumPathLength": 2}, {"issuerKey": "kA"},
                             {"expiry": {"after": NOW, "then": "systemTrust"}}, {"expiry": {"after": NOW, "then": "reject"}})]),
                         ("unpinnedHosts", UNPINNED),
                         ("approval", each("approvals", [[], [approval("key:kA")], [approval("cert:cP0")],
                                                         [approval("key:kA", revoked=True)]])),
                         ("newestKnownTime", each("newestKnownTime", [None, NOW - 1000 * DAY]))]}

NO_RULE = {"kind": "decision", "what": "D27-D30 without a rule: 0 to 3 valid paths x unpinnedHosts x approvals",
           "fixed": dict({"rule": None}, **{"validate:R": {"failure": ["other"]}}),
           "dimensions": [("paths", [{("validate:system" if name == "validate:R" else name): value for name, value in item.items()}
                                     for item in path_lists()]),
                          ("unpinnedHosts", UNPINNED),
                          ("approval", each("approvals", [[]] + [[approval(subject, accepts)] for accepts in ([], ACCEPTABLE) for subject
                                                                 in ("key:kA", "cert:c0", "key:kI", "cert:cI1")])),
                          ("newestKnownTime", each("newestKnownTime", [None, NOW - 1000 * DAY]))]}

CROSS = {"kind": "decision", "what": "a few values of everything against everything",
         "fixed": {},
         "dimensions": [("rule", [{"rule": None}, {"rule": {"port": 443}}, {"rule": {"port": 8443}}]),
                        ("unpinnedHosts", UNPINNED),
                        ("chain", each("chain", ["readable", "limits-exceeded"])),
                        ("system", each("validate:system", [GOOD, {"failure": ["name-mismatch", "untrusted-root"]}])),
                        ("rule's anchors", each("validate:R", [GOOD, {"failure": ["expired"]},
                                                               {"paths": [["kL/cL"], ["kL/cL", "kI/cI", "kR/cR"]]}])),
                        ("pins", [NO_PINS, pins(["cert:cI@ca"], ["key:kI@any"]), pins(["key:kNobody@any"]),
                                  pins(["key:kL@leaf", "key:kI@ca"], [], "leafAndCA")]),
                        ("enforcement", ENFORCEMENT),
                        ("expiry", of_rule("expiry", ["never", {"after": NOW, "then": "systemTrust"}, {"after": NOW, "then": "reject"}])),
                        ("terms", [{"rule": {"minimumPathLength": length, "issuerKey": key}}
                                   for length, key in ((None, None), (2, "kI"), (4, "kR"))]),
                        ("approval", each("approvals", [[], [approval("key:kL", ACCEPTABLE)], [approval("cert:cL", ACCEPTABLE)],
                                                        [approval("key:kOther", ACCEPTABLE)]])),
                        ("newestKnownTime", each("newestKnownTime", [None, NOW - 1000 * DAY])),
                        ("leaf", [{"leafFindings": []}, {"leafFindings": ["name-mismatch"]}])]}

READING = {"kind": "reading", "what": "D2", "fixed": {},
           "dimensions": [("sizes", each("sizes", [[], [[1, 1000]], [[3, 1000]], [[128, 1000]], [[129, 1000]], [[1, 262144], [2, 1000]],
                                                   [[1, 262145], [2, 1000]], [[2, 1000], [1, 262145]], [[16, 262144]],
                                                   [[16, 262144], [1, 1]]])),
                          ("tooManyParts", each("tooManyParts", [[], [0], [1], [2]])),
                          ("unreadable", each("unreadable", [[], [0], [1], [2], [1, 2]])),
                          ("names", each("names", [{}, {"0": 20000}, {"0": 20001}, {"1": 20001}, {"0": 10000, "1": 10000},
                                                   {"0": 10000, "1": 10001}, {"0": 10000, "2": 10001}]))]}

FAMILIES = {"match": MATCH, "terms": TERMS, "choice": CHOICE, "expiry": EXPIRY, "subsecond": SUBSECOND, "hosts": HOSTS,
            "pooling": POOLING, "first": FIRST, "failures": FAILURES, "standing": STANDING, "approved": APPROVED, "vouch": VOUCH,
            "question": QUESTION, "answering": ANSWERING, "client": CLIENT, "no-rule": NO_RULE, "cross": CROSS,
            "reading": READING}


def count(family):
    product = 1
    for _, values in family["dimensions"]:
        product *= len(values)
    return product


# ---------------------------------------------------------------------------------------------------------------------------
# 4. Answers
# ---------------------------------------------------------------------------------------------------------------------------

def answer_decision(s):
    return decide(s)[:3]


def answer_vouch(s):
    return vouch(s, s["A"])


def answer_question(s):
    R = unacceptable(s)
    return (None if R is None else R[1], exceptions(s), accepts_of_answer(s, s["subject"], s["shown"]))


def answer_reading(s):
    certificates = []
    for number, size in s["sizes"]:
        certificates += [{"bytes": size} for _ in range(number)]
    for place, c in enumerate(certificates):
        c["tooManyParts"] = place in s["tooManyParts"]
        c["unreadable"] = place in s["unreadable"]
        c["names"] = s["names"].get(str(place), 1)
    return read_chain(certificates)


ANSWER = {"decision": answer_decision, "vouch": answer_vouch, "question": answer_question, "answering": is_stored,
          "reading": answer_reading}


def in_order(codes):
    return sorted(codes, key=ORDER.__getitem__)


def show(kind, answer):
    if kind == "decision":
        verdict, reason, details = answer
        shown = {"answer": verdict, "reason": reason}
        if reason in ("invalid-path", "unknown-host"):
            shown.update(zip(("code", "term"), details))
        if reason == "pins-expired":
            shown["suspicious"] = details[0]
        if reason == "pin-matched":
            depth, backup, index = details
            shown.update(depth=depth, backup=backup, pin="%s[%d]" % ("backupPins" if backup else "pins", index))
        return shown
    if kind == "vouch":
        if answer[0] == "path":
            return {"path": answer[1]}
        return {"code": answer[1], "findings": in_order(answer[2])}
    if kind == "question":
        return {"unacceptable": answer[0], "exceptions": in_order(answer[1]),
                "accepts": None if answer[2] is None else in_order(answer[2])}
    if kind == "answering":
        return {"stored": answer}
    return {"chain": answer[0] or "readable", "kept": answer[1]}


ALPHABET = [chr(c) for c in range(0x21, 0x7F) if chr(c) not in "\"\\"] + [chr(c) for c in range(0x100, 0x2000)]


def print_family(name):
    family = FAMILIES[name]
    answer = ANSWER[family["kind"]]
    characters = {}
    out = []
    for s in states(family):
        given = answer(s)
        if given not in characters:
            characters[given] = ALPHABET[len(characters)]
        out.append(characters[given])
    print(json.dumps({"family": name, "kind": family["kind"], "count": len(out), "defaults": DEFAULTS, "baseRule": RULE,
                      "fixed": family["fixed"],
                      "dimensions": [{"name": n, "values": values} for n, values in family["dimensions"]]}))
    print(json.dumps({"legend": {c: show(family["kind"], given) for given, c in characters.items()}}, ensure_ascii=False))
    text = "".join(out)
    for start in range(0, len(text), 1000):
        print(text[start:start + 1000])


# ---------------------------------------------------------------------------------------------------------------------------
# 5. Laws.  Each one takes a state and its answer, and yields True or False for each check.
# ---------------------------------------------------------------------------------------------------------------------------

def changed_rule(s, rule, **members):
    """The state with some members of one rule changed."""
    return dict(s, rules=[dict(r, **members) if r is rule else r for r in s["rules"]])


def without_pins(s, rule):
    return changed_rule(s, rule, pins=[], backupPins=[], requires="anyPin")


def law_inputs(s, answer, rule):
    """The state is one that section 1 allows."""
    paths = [s["clientPath"]] if s["clientPath"] is not None else [
        path for name, value in s.items() if name.startswith("validate:") and value[0] == "paths" for path in value[1]]
    yield all(path and path[0] == s["leaf"] for path in paths)
    yield s["leaf"][0] is not None or (s["clientPath"] is not None and s["chain"] != "readable")
    yield "unsuitable-purpose" not in s["leafFindings"]
    yield s["leafHasEnded"] or "expired" not in s["leafFindings"]
    yield len({(r["host"], r["port"]) for r in s["rules"]}) == len(s["rules"])
    yield len({(a["host"], a["port"]) for a in s["approvals"]}) == len(s["approvals"])
    for r in s["rules"]:
        yield (bool(r["pins"]) or not r["backupPins"]) and not is_alias_cached(r["host"])
        if r["requires"] == "leafAndCA":
            yield {pin[2] for pin in r["pins"]} == {"leaf", "ca"} and "any" not in {pin[2] for pin in r["backupPins"]}


ALIASES = {}


def is_alias_cached(host):
    if host not in ALIASES:
        ALIASES[host] = is_alias(host)
    return ALIASES[host]


def law_1(s, answer, rule):
    if failed(validate(s, "system" if rule is None else rule["anchors"])):
        yield answer[0] == "rejected" or answer[1] == "user-approved"


SEEN = {}


def law_2(s, answer, rule):
    SEEN[answer[:2]] = SEEN.get(answer[:2], 0) + 1
    yield answer[:2] in COMBINATIONS


def law_3(s, answer, rule):
    if rule is not None and has_pins(rule) and answer[0] == "trusted":
        yield decide(without_pins(s, rule))[0] == "trusted"


def law_4(s, answer, rule):
    if rule is not None and rule["enforcement"] == "reportOnly":
        enforced = decide(changed_rule(s, rule, enforcement="enforce"))
        yield enforced == answer or (enforced[1] == "pin-mismatch" and enforced[3] == "D35")


def law_5(s, answer, rule):
    if rule is not None and has_pins(rule) and pins_have_expired(rule, s["now"]) and rule["expiry"]["then"] == "systemTrust":
        plain = decide(without_pins(s, rule))
        yield answer[0] == plain[0]
        yield answer[:3] == plain[:3] or (answer[1] == "pins-expired" and plain[1] == "host-not-pinned")


def law_6(s, answer, rule):
    if s["approvals"]:
        here = (s["endpoint"]["host"], s["endpoint"]["port"])                     # not by own_approval, which is under test
        own = [a for a in s["approvals"] if (a["host"], a["port"]) == here]
        yield decide(dict(s, approvals=own)) == answer
        if decide(dict(s, approvals=[])) != answer:
            yield bool(own) and rule is None and s["unpinnedHosts"] == "askUser"


def law_7(s, answer, rule):
    covering = [r for r in s["rules"] if covers(r, s["endpoint"])]
    if len(covering) < len(s["rules"]):
        yield decide(dict(s, rules=covering)) == answer
    else:
        stranger = dict(read_rule(RULE), host="unrelated.test", includeSubdomains=True, pins=[("key", "kStranger", "any")])
        yield decide(dict(s, rules=[stranger] + s["rules"])) == answer


def law_8(s, answer, rule):
    if rule is not None and (rule["minimumPathLength"] is not None or rule["issuerKey"] is not None) and answer[0] == "trusted":
        yield decide(changed_rule(s, rule, minimumPathLength=None, issuerKey=None))[0] == "trusted"


def law_9(s, answer, rule):
    for newest in (None, s["now"], s["now"] - 34560001):
        if newest != s["newestKnownTime"]:
            yield decide(dict(s, newestKnownTime=newest))[:2] == answer[:2]


def law_x1(s, answer, rule):
    """D9: the order of the rules has no effect.  D10: only the rule that decides has."""
    if len(s["rules"]) > 1:
        yield decide(dict(s, rules=s["rules"][::-1])) == answer
        if rule is not None:
            yield decide(dict(s, rules=[rule])) == answer


def law_x2(s, answer, rule):
    """D25: validation is not called.  (Without its answers, a call would end the program.)"""
    if answer[1] == "host-not-allowed":
        yield decide({name: value for name, value in s.items() if not name.startswith("validate:")}) == answer


def law_x3(s, answer, rule):
    """D26: an alias is never trusted, and no rule covers it."""
    if s["endpoint"]["isAlias"]:
        yield rule is None and answer[0] == "rejected"


def law_x4(s, answer, rule):
    """D6, D7: the details that an answer has."""
    details = answer[2]
    yield {"invalid-path": len(details) in (1, 2) and details[0:1] != (None,), "unknown-host": len(details) == 1,
           "pin-matched": len(details) == 3, "pins-expired": len(details) == 1}.get(answer[1], details == ())


def law_x5(s, answer, rule):
    """D29: with several paths, the answer is that of one of them alone, and the order cannot turn trusted into rejected."""
    if rule is not None and s["clientPath"] is None:
        validation = validate(s, rule["anchors"])
        if not failed(validation) and len(validation[1]) > 1:
            field = "validate:" + rule["anchors"]
            alone = [decide(dict(s, **{field: ("paths", [path])})) for path in validation[1]]
            yield answer in alone
            yield (answer[0] == "trusted") == any(a[0] == "trusted" for a in alone)
            turned = decide(dict(s, **{field: ("paths", validation[1][::-1])}))
            yield turned[:2] == answer[:2]


def law_x6(s, answer, rule):
    """D22: elements of `accepts` that the approval cannot accept are ignored."""
    own = own_approval(s)
    if rule is None and own is not None and own["accepts"] - can_accept(own):
        less = dict(own, accepts=own["accepts"] & can_accept(own))
        yield decide(dict(s, approvals=[less])) == answer


def law_x13(s, answer, rule):
    """D15, D16: a match by leafAndCA is at depth 0, in a path of two or more, and is also the match by anyPin."""
    if answer[1] == "pin-matched" and rule["requires"] == "leafAndCA":
        paths = validate(s, rule["anchors"])[1]
        yield answer[2][0] == 0 and any(len(path) > 1 for path in paths)
        if len(paths) == 1:
            yield decide(changed_rule(s, rule, requires="anyPin")) == answer


def law_x7(s, answer, rule):
    """vouch is monotone: who accepts more does not lose a path."""
    if answer[0] == "path":
        for code in ACCEPTABLE:
            if code not in s["A"]:
                yield vouch(s, s["A"] + [code])[0] == "path"


def law_x8(s, answer, rule):
    """D3 holds for each failure of vouch except those of D23.5 with added findings: there the code is one of the leaf's own."""
    if answer[0] == "failure":
        yield answer[1] in answer[2]
        if answer[1] != code_of(answer[2]):
            yield answer[1] in s["leafFindings"] or answer[1] == "unsuitable-purpose"


def law_x9(s, answer, rule):
    """vouch never vouches for a finding of the leaf that is not in A, nor for another purpose."""
    if answer == ("path", "leaf"):
        yield set(s["leafFindings"]) <= set(s["A"]) and not s["leafIsForOtherPurpose"]


def asked(s, subject, accepts):
    new = {"host": s["endpoint"]["host"], "port": s["endpoint"]["port"], "accepts": accepts, "expiresAt": None, "isRevoked": False,
           "subject": ("key", s["leaf"][0]) if subject == "key" else ("cert", s["leaf"][1])}
    return decide(dict(s, rules=[], unpinnedHosts="askUser", approvals=[new]))


def law_x10(s, answer, rule):
    """D39: an approval that is not refused gives `user-approved` at once."""
    if answer[2] is not None:
        yield asked(s, s["subject"], answer[2])[:2] == ("trusted", "user-approved")


def law_x11(s, answer, rule):
    """D39: what is refused although all was shown would not have helped: no approval of this kind gives `user-approved`."""
    if answer[2] is None and len(s["shown"]) == 2:
        yield asked(s, s["subject"], frozenset(ACCEPTABLE))[0] == "rejected"


def agrees(s):
    """The leaf has ended if and only if it has the finding, and a wrong name in F is the leaf's."""
    F = validate(s, "system")
    return (s["leafHasEnded"] == ("expired" in s["leafFindings"])
            and (not failed(F) or ("name-mismatch" in F[2]) == ("name-mismatch" in s["leafFindings"])))


def law_x12(s, answer, rule):
    """D38: no smaller set than `exceptions` does; each approval holds only what D22 lets it accept.  The first half only if the
    leaf's own findings agree with F and the clock (see `agrees`): the document does not ask for that, and without it the law fails."""
    more = answer[1]
    if agrees(s):
        for smaller in subsets(sorted(more))[:-1]:
            yield failed(vouch(s, USUAL | set(smaller)))
    if answer[2] is not None and s["subject"] == "key":
        yield answer[2] <= USUAL


LAWS = {"decision": [("inputs", law_inputs), ("L1", law_1), ("L2", law_2), ("L3", law_3), ("L4", law_4), ("L5", law_5), ("L6", law_6),
                     ("L7", law_7), ("L8", law_8), ("L9", law_9), ("X1", law_x1), ("X2", law_x2), ("X3", law_x3), ("X4", law_x4),
                     ("X5", law_x5), ("X6", law_x6), ("X13", law_x13)],
        "vouch": [("inputs", law_inputs), ("X7", law_x7), ("X8", law_x8), ("X9", law_x9)],
        "question": [("inputs", law_inputs), ("X10", law_x10), ("X11", law_x11), ("X12", law_x12)],
        "answering": [("inputs", law_inputs)], "reading": []}


def check_laws(names):
    checks, failures, first = {}, {}, {}
    for name in names:
        family = FAMILIES[name]
        begun = time.time()
        for number, s in enumerate(states(family)):
            if family["kind"] == "decision":
                answer, rule = decide(s), deciding_rule(s)
            else:
                answer, rule = ANSWER[family["kind"]](s), None
            for law, check in LAWS[family["kind"]]:
                for holds in check(s, answer, rule):
                    checks[law] = checks.get(law, 0) + 1
                    if not holds:
                        failures[law] = failures.get(law, 0) + 1
                        first.setdefault(law, (name, number, answer))
        print("# %-10s %8d states %6.1f s" % (name, count(family), time.time() - begun), flush=True)
    for combination in COMBINATIONS:
        print("L2 %-8s %-24s %8d states%s" % (combination + (SEEN.get(combination, 0),
                                                              "" if SEEN.get(combination) else "   NEVER")))
    for law in checks:
        if law in first:
            name, number, answer = first[law]
            print("%-6s %9d checks, %d FAIL, first: family %s, state %d, answer %s" % (law, checks[law], failures[law], name, number, answer))
        else:
            print("%-6s %9d checks, all hold" % (law, checks[law]))
    return not first and all(SEEN.get(combination) for combination in COMBINATIONS)


def chosen_values(name, number):
    family = FAMILIES[name]
    chosen = {}
    for dimension, values in reversed(family["dimensions"]):
        number, place = divmod(number, len(values))
        chosen[dimension] = values[place]
    return dict(reversed(list(chosen.items())))


def main(arguments):
    if arguments == ["list"]:
        for name, family in FAMILIES.items():
            print("%-10s %8d  %-9s %s" % (name, count(family), family["kind"], family["what"]))
            print("%21s%s" % ("", " x ".join("%s %d" % (n, len(values)) for n, values in family["dimensions"])))
        print("%-10s %8d" % ("all", sum(count(family) for family in FAMILIES.values())))
    elif len(arguments) == 2 and arguments[0] == "family":
        print_family(arguments[1])
    elif len(arguments) == 3 and arguments[0] == "state":
        family = FAMILIES[arguments[1]]
        s = next(itertools.islice(states(family), int(arguments[2]), None))
        print(json.dumps({"fixed": family["fixed"], "chosen": chosen_values(arguments[1], int(arguments[2])),
                          "answer": show(family["kind"], ANSWER[family["kind"]](s))}, indent=1))
    elif arguments and arguments[0] == "laws":
        sys.exit(0 if check_laws(arguments[1:] or FAMILIES) else 1)
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
