"""The vectors of Specification/update.md. Each `expect` follows from the rule that stands before it, not from a program."""
import base64
import hashlib
import json

import ed25519
from ed25519 import Signer, with_s_plus

TYPE = "application/vnd.pintle.policy+json"
ONE, TWO, THREE, STRANGER = Signer("one"), Signer("two"), Signer("three"), Signer("stranger")
SIXTEEN = [Signer("key %d" % n) for n in range(1, 17)]
NOW = "2026-11-20T12:00:00Z"
VECTORS = []


# --- Documents -------------------------------------------------------------------------------------------------------------

def text(value):
    return json.dumps(value, ensure_ascii=False)


def pin(n):
    return "sha256/" + base64.b64encode(hashlib.sha256(b"pin %d" % n).digest()).decode()


def rule(host="example.com", n=1, **more):
    return {"host": host, "pins": [pin(n)], "backupPins": [pin(n + 50)], **more}


def bare(host="example.com", **more):
    return {"host": host, **more}


def policy(*rules, **top):
    return text({"version": 1, **top, "hosts": list(rules)})


def of(*pairs):
    """An object whose keys may stand twice; each value is JSON."""
    return "{" + ", ".join("%s: %s" % (text(key), value) for key, value in pairs) + "}"


BUNDLED = policy(rule())
UPDATE = policy(rule(n=2))


def payload(policy=UPDATE, version="7", issued="2026-11-01T00:00:00Z", expires="2027-02-18T00:00:00Z", more=""):
    return '{"version": %s, "issuedAt": "%s", "expiresAt": "%s", "policy": %s%s}' % (version, issued, expires, policy, more)


# --- Bytes: parts of vectors, and what they stand for ----------------------------------------------------------------------

def bytes_of(parts):
    out = b""
    for part in parts:
        if isinstance(part, str):
            out += part.encode()
        elif "hex" in part:
            out += bytes.fromhex(part["hex"])
        elif "repeat" in part:
            out += part["repeat"].encode() * part["times"]
        else:
            out += base64.b64encode(bytes_of(part["base64"]))
    return out


def joined(parts):
    """The parts with neighbouring texts in one."""
    out = []
    for part in parts:
        if isinstance(part, str) and out and isinstance(out[-1], str):
            out[-1] += part
        elif part != "":
            out.append(part)
    return out


def message(content, type=TYPE):
    return b"DSSEv1 %d %s %d " % (len(type.encode()), type.encode(), len(content)) + content


def signature(bytes, keyid=None, more=""):
    sig = bytes if isinstance(bytes, str) else base64.b64encode(bytes).decode()
    return "{" + ("" if keyid is None else '"keyid": "%s", ' % keyid) + '"sig": "%s"%s}' % (sig, more)


def signed(by, content, type=TYPE):
    return [signature(signer.sign(message(content, type)), signer.id) for signer in by]


def around(encoded, signatures, type=text(TYPE), more=""):
    return joined(['{"payload": "', *encoded, '", "payloadType": %s, "signatures": [%s]%s}' % (type, ", ".join(signatures),
        more)])


def envelope(parts=None, by=(ONE,), signatures=None, type=TYPE, more="", **of_payload):
    """An envelope. `signatures` makes its signatures from the payload, in place of those `by` some keys."""
    parts = [payload(**of_payload)] if parts is None else parts
    content = bytes_of(parts)
    made = signatures(content) if signatures else signed(by, content, type)
    return around([{"base64": parts}], made, text(type), more)


def digest(parts):
    return hashlib.sha256(bytes_of(parts)).hexdigest()


def key_set(*signers):
    return hashlib.sha256("".join(i + "\n" for i in sorted(s.id for s in signers)).encode()).hexdigest()


def floor(version, parts, *signers):
    return {"version": version, "keySetID": key_set(*(signers or (ONE, TWO))), "payloadDigest": digest(parts)}


def accepted(version=7, signers=(ONE,), unchanged=False):
    return {"answer": "accepted", "version": version, "signers": [s.id for s in signers], "unchanged": unchanged}


def vector(rule, name, what, expect, update=None, keys=(ONE, TWO), threshold=1, bundled=BUNDLED, floor=None, minimum=0, now=NOW,
           stored=False, **of_envelope):
    update = envelope(**of_envelope) if update is None else joined(update)
    VECTORS.append(("update/u%02d-%s" % (int(rule[1:]), name), {
        "rule": rule, "what": what, "keys": [k if isinstance(k, str) else k.public.hex() for k in keys], "threshold": threshold,
        "bundled": bundled, "floor": floor, "minimumVersion": minimum, "now": now, "isStored": stored, "update": update,
        "expect": {"answer": "refused", "code": expect} if isinstance(expect, str) else expect}))


def key_vector(name, what, expect, *keys, threshold=1, rule="U10"):
    VECTORS.append(("keys/%s-%s" % (rule.lower(), name), {
        "rule": rule, "what": what, "keys": [k if isinstance(k, str) else k.public.hex() for k in keys], "threshold": threshold,
        "expect": {"answer": expect}}))


GOOD = accepted()
CONTENT = bytes_of([payload()])
SIGNED = signed((ONE,), CONTENT)
MALFORMED, INVALID, FEW = "malformed-envelope", "invalid-signature", "threshold-not-met"
UNKNOWN, PAYLOAD, ROLLBACK, REPLACED = "unknown-payload-type", "malformed-payload", "rollback", "replaced-version"
EARLY, LATE, SCOPE, POLICY = "not-yet-issued", "expired", "out-of-scope", "invalid-policy"
ENCODED = base64.b64encode(CONTENT).decode()

# --- U1: the order ---------------------------------------------------------------------------------------------------------

FUTURE, PAST = "2026-11-20T12:00:01Z", "2026-11-20T12:00:00Z"
UNREADABLE = '{"version": 1, "hosts": [], "later": 1}'
vector("U1", "good", "nothing is wrong", GOOD)
vector("U1", "01-size-before-envelope", "too many bytes that are no envelope either", "too-large", [{"repeat": "x",
    "times": 16777217}])
vector("U1", "02-envelope-before-signature", "no payloadType, and a signature by another key", MALFORMED,
       ['{"payload": "%s", "signatures": [%s]}' % (ENCODED, signed((STRANGER,), CONTENT)[0])])
vector("U1", "03-signature-before-threshold", "the only signature of two is by another key", INVALID, by=(STRANGER,), threshold=2)
vector("U1", "04-threshold-before-type", "one signature of two, and another payload type", FEW, threshold=2,
    type="application/json")
vector("U1", "05-type-before-payload", "another payload type, and a payload that is no JSON", UNKNOWN, parts=["nothing"],
    type="text/plain")
vector("U1", "06-payload-before-version", "no issuedAt, and version 0", PAYLOAD,
       parts=['{"version": 0, "expiresAt": "2027-02-18T00:00:00Z", "policy": %s}' % UPDATE])
vector("U1", "07-version-before-known-version", "the version of the bundled policy with other rules, below the floor", ROLLBACK,
       bundled=policy(rule(), updateVersion=7), floor=floor(8, ["x"]))
vector("U1", "08-known-version-before-issue", "another payload under the floor's version, issued later than now", REPLACED,
       floor=floor(7, ["x"]), issued=FUTURE)
vector("U1", "09-issue-before-end", "issued later than now, ended before now", EARLY, issued=FUTURE, expires=PAST)
vector("U1", "10-end-before-policy", "ended, and a policy that cannot be read", LATE, expires=PAST, policy=UNREADABLE)
vector("U1", "11-reading-before-scope", "an unknown key in the policy, and other unpinnedHosts", POLICY,
       policy=policy(rule(), unpinnedHosts="reject", later=1))
vector("U1", "12-scope-before-problems", "other unpinnedHosts, and a rule without backup pins", SCOPE,
       policy=policy(bare(pins=[pin(1)]), unpinnedHosts="reject"))
vector("U1", "13-scope-before-missing-host", "other unpinnedHosts, and no rule for the bundled host", SCOPE,
       policy=policy(unpinnedHosts="reject"))
vector("U1", "14-signature-before-all", "a signature by another key over an old, ended update for another host", INVALID,
       by=(STRANGER,), version="0", expires=PAST, policy=policy(rule("example.net")))
vector("U1", "15-version-before-dates", "an old and ended update", ROLLBACK, floor=floor(8, ["x"]), expires=PAST)

# --- U2, U3: size and strict JSON ------------------------------------------------------------------------------------------

LENGTH = len(bytes_of(envelope()))
vector("U2", "most-bytes", "16,777,216 bytes; those behind the envelope are blanks", GOOD,
       envelope() + [{"repeat": " ", "times": 16777216 - LENGTH}])
vector("U2", "one-byte-more", "16,777,217 bytes; those behind the envelope are blanks", "too-large",
       envelope() + [{"repeat": " ", "times": 16777217 - LENGTH}])
vector("U3", "most-deep", "depth 16 in an unknown member", GOOD, more=', "x": ' + "[" * 15 + "]" * 15)
vector("U3", "too-deep", "depth 17 in an unknown member", MALFORMED, more=', "x": ' + "[" * 16 + "]" * 16)
ZEROS = envelope(more=', "x": [')


def zeros(count):
    """An envelope with 8 values, and a list of so many more."""
    last = ZEROS[-1]
    return ZEROS[:-1] + [last[:-1], {"repeat": "0, ", "times": count - 1}, "0]}"]


vector("U3", "most-values", "10,000 values", GOOD, zeros(9992))
vector("U3", "too-many-values", "10,001 values", MALFORMED, zeros(9993))
vector("U3", "keys-are-no-values", "9,998 values, two of them objects, and three keys beside those of the envelope", GOOD,
       envelope(more=', "y": {"a": {"b": 0}}, "x": [')[:-1]
       + [envelope(more=', "y": {"a": {"b": 0}}, "x": [')[-1][:-1], {"repeat": "0, ", "times": 9986}, "0]}"])
for name, what, parts in [
        ("no-bytes", "no byte", []),
        ("blanks", "only blanks", [" \n\t\r"]),
        ("no-json", "no JSON", ["nothing"]),
        ("byte-order-mark", "a byte order mark before the envelope", [{"hex": "efbbbf"}] + envelope()),
        ("trailing-content", "an envelope, then one more value", envelope() + [" 0"]),
        ("zero-byte-behind", "an envelope, then a zero byte", envelope() + [{"hex": "00"}]),
        ("cut", "an envelope without its last byte", [*envelope()[:-1], envelope()[-1][:-1]]),
        ("trailing-comma", "a comma behind the last member", envelope(more=", ")),
        ("comment", "a comment behind the last member", envelope(more=" /* x */")),
        ("single-quotes", "a key in single quotes", envelope(more=", 'x': 0")),
        ("control-character", "a line feed in a string of an unknown member", envelope(more=', "x": "\n"')),
        ("invalid-utf8", "a byte that is no UTF-8 in a string of an unknown member",
         [*envelope(more=', "x": "')[:-1], envelope(more=', "x": "')[-1][:-1], {"hex": "ff"}, '"}']),
        ("encoded-surrogate", "a surrogate in three bytes in a string of an unknown member",
         [*envelope(more=', "x": "')[:-1], envelope(more=', "x": "')[-1][:-1], {"hex": "eda080"}, '"}']),
        ("lone-surrogate", "half of a surrogate pair in an unknown member", envelope(more=', "x": "\\ud800"')),
        ("invalid-escape", "an escape that JSON does not have in an unknown member", envelope(more=', "x": "\\x41"')),
        ("leading-zero", "a number with a leading zero in an unknown member", envelope(more=', "x": 01')),
        ("plus", "a number with a plus sign in an unknown member", envelope(more=', "x": +1')),
        ("bare-fraction", "a number that ends in a dot in an unknown member", envelope(more=', "x": 1.')),
        ("not-a-number", "NaN in an unknown member", envelope(more=', "x": NaN')),
        ("upper-case-word", "True in an unknown member", envelope(more=', "x": True')),
        ("duplicate-payload", "the member payload twice, with the same value",
         around([ENCODED], SIGNED, more=', "payload": "%s"' % ENCODED)),
        ("duplicate-escaped", "the member payload twice, once written with an escape",
         around([ENCODED], SIGNED, more=', "p\\u0061yload": "%s"' % ENCODED)),
        ("duplicate-unknown", "an unknown member twice", envelope(more=', "x": 0, "x": 0')),
        ("duplicate-in-unknown", "a key twice in an object inside an unknown member",
            envelope(more=', "x": [{"y": {"z": 0, "z": 1}}]')),
        ("duplicate-empty-key", "the empty key twice", envelope(more=', "": 0, "": 0')),
        ("duplicate-in-signature", "sig twice in a signature",
         envelope(signatures=lambda c: [signature(ONE.sign(message(c)), ONE.id, ', "sig": ""')]))]:
    vector("U3", name, what, MALFORMED, parts)
for name, what, more in [
        ("numbers-of-any-form", "a fraction, exponents, and numbers of many digits in unknown members",
         ', "x": [1.5, -0.0, 1e400, 1E-9, -0, 123456789012345678901234567890]'),
        ("same-key-elsewhere", "one key in two objects", ', "x": {"sig": 0, "y": {"sig": 0}}, "sig": 0'),
        ("normalization", "two keys that are one only after Unicode normalization", ', "\u00e9": 0, "e\u0301": 0'),
        ("case-of-keys", "keys that differ in case", ', "Payload": 0, "PAYLOAD": 0'),
        ("zero-in-string", "an escaped zero and a surrogate pair in an unknown member", ', "x": "\\u0000\\ud83d\\ude00"'),
        ("bare-slash-and-delete", "a slash without an escape, and the byte 7F", ', "x": "/\u007f"')]:
    vector("U3", name, what, GOOD, more=more)
vector("U3", "blanks-around", "all four blanks before and behind the envelope", GOOD, [" \t\r\n", *envelope(), " \t\r\n"])

# --- U4, U5: members -------------------------------------------------------------------------------------------------------


def members(payload='"%s"' % ENCODED, type=text(TYPE), signatures="[%s]" % SIGNED[0], *more):
    return [of(*[pair for pair in (("payload", payload), ("payloadType", type), ("signatures", signatures)) if pair[1]], *more)]


vector("U4", "order-of-members", "the members in another order", GOOD,
       ['{"signatures": [%s], "payloadType": "%s", "payload": "%s"}' % (SIGNED[0], TYPE, ENCODED)])
vector("U4", "root-is-list", "a list around the envelope", MALFORMED, ["[", *envelope(), "]"])
vector("U4", "root-is-string", "a string", MALFORMED, ['"%s"' % ENCODED])
vector("U4", "no-payload", "no payload", MALFORMED, members(payload=None))
vector("U4", "no-type", "no payloadType", MALFORMED, members(type=None))
vector("U4", "no-signatures", "no signatures", MALFORMED, members(signatures=None))
vector("U4", "null-payload", "payload is null", MALFORMED, members(payload="null"))
vector("U4", "object-as-payload", "payload is an object", MALFORMED, members(payload=payload()))
vector("U4", "number-as-type", "payloadType is a number", MALFORMED, members(type="1"))
vector("U4", "null-signatures", "signatures is null", MALFORMED, members(signatures="null"))
vector("U4", "signature-without-list", "signatures is one signature", MALFORMED, members(signatures=SIGNED[0]))
vector("U4", "string-as-signature", "a second signature is a string", MALFORMED, members(signatures='[%s, "x"]' % SIGNED[0]))
vector("U4", "null-as-signature", "a second signature is null", MALFORMED, members(signatures="[%s, null]" % SIGNED[0]))
vector("U4", "no-sig", "a second signature without sig", MALFORMED, members(signatures='[%s, {"keyid": ""}]' % SIGNED[0]))
vector("U4", "number-as-sig", "sig of a second signature is a number", MALFORMED,
    members(signatures='[%s, {"sig": 1}]' % SIGNED[0]))
vector("U4", "number-as-keyid", "keyid is a number", MALFORMED,
       members(signatures="[%s]" % SIGNED[0].replace('"%s"' % ONE.id, "1")))
vector("U4", "null-as-keyid", "keyid is null", MALFORMED,
       members(signatures="[%s]" % SIGNED[0].replace('"%s"' % ONE.id, "null")))
vector("U4", "no-keyid", "a signature without keyid", GOOD, signatures=lambda c: [signature(ONE.sign(message(c)))])
vector("U4", "empty-keyid", "a signature with an empty keyid", GOOD, signatures=lambda c: [signature(ONE.sign(message(c)), "")])
vector("U4", "empty-list", "an empty list of signatures is well-formed", INVALID, by=())
vector("U4", "empty-sig", "an empty sig is well-formed, and no signature", INVALID, signatures=lambda c: [signature(b"")])
vector("U4", "empty-sig-beside", "an empty sig beside a valid signature", GOOD,
    signatures=lambda c: [signature(b"")] + signed((ONE,), c))
vector("U4", "most-signatures", "16 signatures, the last one valid", GOOD,
    signatures=lambda c: [signature(b"x")] * 15 + signed((ONE,), c))
vector("U4", "too-many-signatures", "17 signatures, the first one valid", MALFORMED,
       signatures=lambda c: signed((ONE,), c) + [signature(b"x")] * 16)
vector("U4", "empty-payload", "an empty payload is well-formed base64", PAYLOAD, parts=[""], signatures=lambda c: signed((ONE,),
    b""))
vector("U4", "escapes", "strings written with escapes", GOOD,
       around([ENCODED.replace("e", "\\u0065", 1)], SIGNED, type=text(TYPE).replace("/", "\\/")))

# Content whose base64 needs 0, 2 and 1 characters of padding. It has both + and /.
SPECIAL = {}
for n in range(9):
    content = payload(more=', "x": "%s%s"' % (" " * n, "?>" * 8))
    if all(character in base64.b64encode(content.encode()).decode() for character in "+/"):
        SPECIAL.setdefault(len(content) % 3, content)


def based(remainder, change):
    content = SPECIAL[remainder].encode()
    return around([change(base64.b64encode(content).decode())], signed((ONE,), content))


def last_bits(encoded):
    """The same text with a bit set that belongs to no byte."""
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    rest = encoded.rstrip("=")
    return rest[:-1] + alphabet[alphabet.index(rest[-1]) + 1] + encoded[len(rest):]


def url_safe(encoded):
    return encoded.replace("+", "-").replace("/", "_")


for name, what, expect, remainder, change in [
        ("padding-2", "two characters of padding", GOOD, 1, lambda e: e),
        ("padding-1", "one character of padding", GOOD, 2, lambda e: e),
        ("padding-0", "no padding needed", GOOD, 0, lambda e: e),
        ("padding-2-absent", "two characters of padding left out", GOOD, 1, lambda e: e.rstrip("=")),
        ("padding-1-absent", "one character of padding left out", GOOD, 2, lambda e: e.rstrip("=")),
        ("padding-2-half", "one of two characters of padding", MALFORMED, 1, lambda e: e[:-1]),
        ("padding-2-more", "three characters of padding where two are needed", MALFORMED, 1, lambda e: e + "="),
        ("padding-1-more", "two characters of padding where one is needed", MALFORMED, 2, lambda e: e + "="),
        ("padding-0-more", "a character of padding where none is needed", MALFORMED, 0, lambda e: e + "="),
        ("padding-0-four", "four characters of padding where none is needed", MALFORMED, 0, lambda e: e + "===="),
        ("padding-inside", "padding in the middle", MALFORMED, 0, lambda e: e[:2] + "==" + e[4:]),
        ("padding-first", "padding at the beginning", MALFORMED, 0, lambda e: "=" + e),
        ("bits-4", "one of four bits that belong to no byte is set", MALFORMED, 1, last_bits),
        ("bits-2", "one of two bits that belong to no byte is set", MALFORMED, 2, last_bits),
        ("bits-4-absent", "one of four bits that belong to no byte is set, without padding", MALFORMED, 1,
         lambda e: last_bits(e).rstrip("=")),
        ("one-character", "one character more than whole bytes have", MALFORMED, 0, lambda e: e + "A"),
        ("url-safe", "the alphabet of RFC 4648 section 5", GOOD, 0, url_safe),
        ("mixed-alphabets", "characters of both alphabets", MALFORMED, 0, lambda e: e.replace("+", "-")),
        ("line-feed", "a line feed in the middle", MALFORMED, 0, lambda e: e[:76] + "\\n" + e[76:]),
        ("blank-before", "a blank before the text", MALFORMED, 0, lambda e: " " + e),
        ("blank-behind", "a blank behind the text", MALFORMED, 0, lambda e: e + " "),
        ("carriage-return-behind", "a line end behind the text", MALFORMED, 0, lambda e: e + "\\r\\n"),
        ("zero-behind", "a zero character behind the text", MALFORMED, 0, lambda e: e + "\\u0000"),
        ("foreign-character", "a character of no alphabet", MALFORMED, 0, lambda e: "*" + e[1:]),
        ("full-width", "a full-width letter", MALFORMED, 0, lambda e: "\\uff25" + e[1:])]:
    vector("U4", "base64-" + name, what + ", in payload", expect, based(remainder, change))
for name, what, expect, change in [
        ("no-padding", "no padding", GOOD, lambda e: e.rstrip("=")),
        ("half-padding", "one of two characters of padding", MALFORMED, lambda e: e[:-1]),
        ("bits", "a bit set that belongs to no byte", MALFORMED, last_bits),
        ("url-safe", "the alphabet of RFC 4648 section 5", GOOD, url_safe),
        ("line-feed", "a line feed behind the text", MALFORMED, lambda e: e + "\\n")]:
    vector("U4", "sig-" + name, "sig with " + what, expect,
           signatures=lambda c, change=change: [signature(change(base64.b64encode(ONE.sign(message(c))).decode()), ONE.id)])
vector("U4", "sig-bits-beside", "text that is not base64 in a second signature, beside a valid one", MALFORMED,
       signatures=lambda c: signed((ONE,), c) + [signature("AB==")])

vector("U5", "in-envelope", "unknown members of the envelope", GOOD, more=', "_later": {"a": [1, null, true]}, "keyid": 7')
vector("U5", "in-signature", "unknown members of a signature", GOOD,
       signatures=lambda c: [signature(ONE.sign(message(c)), ONE.id, ', "cert": "x", "extension": {"kind": 1}')])

# --- U6, U7: payload and message -------------------------------------------------------------------------------------------

vector("U6", "exact-bytes", "a signature over the same JSON without its blanks", INVALID,
       signatures=lambda c: signed((ONE,), json.dumps(json.loads(c), separators=(",", ":")).encode()))
vector("U6", "blanks-in-payload", "blanks around the payload's JSON, signed with them", GOOD, parts=["\n " + payload() + " \n"])
vector("U7", "bare-payload", "a signature over the payload only", INVALID, signatures=lambda c: [signature(ONE.sign(c), ONE.id)])
vector("U7", "over-base64", "a signature over the encoded payload", INVALID,
       signatures=lambda c: [signature(ONE.sign(message(base64.b64encode(c))), ONE.id)])
vector("U7", "other-type-signed", "a signature over another payload type", INVALID, signatures=lambda c: signed((ONE,), c,
    "application/json"))
vector("U7", "version-2", "a signature over a message that begins with DSSEv2", INVALID,
       signatures=lambda c: [signature(ONE.sign(message(c).replace(b"DSSEv1", b"DSSEv2", 1)), ONE.id)])
vector("U7", "leading-zero", "a signature over a length with a leading zero", INVALID,
       signatures=lambda c: [signature(ONE.sign(message(c).replace(b"DSSEv1 34", b"DSSEv1 034", 1)), ONE.id)])
vector("U7", "type-in-bytes", "the length of a payload type is its number of bytes: the signature is valid, the type unknown",
    UNKNOWN,
       type="application/\u00e9")
vector("U7", "type-in-characters", "a signature over the number of characters of a payload type", INVALID,
    type="application/\u00e9",
       signatures=lambda c: [signature(ONE.sign(b"DSSEv1 13 " + "application/\u00e9".encode() + b" %d " % len(c) + c), ONE.id)])
vector("U7", "payload-in-bytes", "the length of a payload is its number of bytes", GOOD, more="",
       parts=[payload(more=', "x": "\u00e9\u20ac\U0001f512"')])
vector("U7", "moved-boundary", "a signature over a message whose first part of the payload stands in the type", INVALID,
       parts=[payload()], type=TYPE, signatures=lambda c: [signature(ONE.sign(
           b"DSSEv1 %d %s %d " % (len(TYPE) + 1, (TYPE + " ").encode(), len(c)) + c), ONE.id)])

# --- U8 to U10: signatures -------------------------------------------------------------------------------------------------


def changed(how, beside=False):
    return lambda c: [signature(how(ONE.sign(message(c)), message(c)), ONE.id)] + (signed((TWO,), c) if beside else [])


for name, what, how in [
        ("63-bytes", "a valid signature without its last byte", lambda s, m: s[:-1]),
        ("65-bytes", "a valid signature and a zero byte", lambda s, m: s + b"\0"),
        ("128-bytes", "a valid signature twice in one sig", lambda s, m: s + s),
        ("32-bytes", "half of a signature", lambda s, m: s[:32])]:
    vector("U8", name, what, INVALID, signatures=changed(how))
    vector("U8", name + "-beside", what + ", beside a signature by another key", accepted(signers=(TWO,)), signatures=changed(how,
        True))

for name, what, how in [
        ("r-changed", "a bit of R is changed", lambda s, m: bytes([s[0] ^ 1]) + s[1:]),
        ("r-sign-changed", "the top bit of R is changed", lambda s, m: s[:31] + bytes([s[31] ^ 0x80]) + s[32:]),
        ("s-changed", "a bit of S is changed", lambda s, m: s[:32] + bytes([s[32] ^ 1]) + s[33:]),
        ("s-top-bit", "the top bit of S is set", lambda s, m: s[:63] + bytes([s[63] | 0x80])),
        ("s-plus-l", "L added to S", lambda s, m: with_s_plus(s, ed25519.L)),
        ("s-plus-2l", "2 L added to S", lambda s, m: with_s_plus(s, 2 * ed25519.L)),
        ("s-plus-8l", "8 L added to S, so that its top bits are set", lambda s, m: with_s_plus(s, 8 * ed25519.L)),
        ("s-is-l", "S is L", lambda s, m: s[:32] + ed25519.L.to_bytes(32, "little")),
        ("s-is-0", "S is 0", lambda s, m: s[:32] + bytes(32)),
        ("zeros", "64 zero bytes", lambda s, m: bytes(64)),
        ("ones", "64 bytes FF", lambda s, m: b"\xff" * 64),
        ("swapped", "S before R", lambda s, m: s[32:] + s[:32]),
        ("s-big-endian", "S in big-endian order", lambda s, m: s[:32] + s[:31:-1]),
        ("negated", "R and S negated", lambda s, m: s[:31] + bytes([s[31] ^ 0x80])
         + (ed25519.L - int.from_bytes(s[32:], "little")).to_bytes(32, "little")),
        ("prehash", "Ed25519ph", lambda s, m: ONE.sign(hashlib.sha512(m).digest(),
            domain=b"SigEd25519 no Ed25519 collisions\1\0")),
        ("context", "Ed25519ctx with a context", lambda s, m: ONE.sign(m, domain=b"SigEd25519 no Ed25519 collisions\0\3abc")),
        ("empty-context", "Ed25519ctx with an empty context", lambda s, m: ONE.sign(m,
            domain=b"SigEd25519 no Ed25519 collisions\0\0")),
        ("r-with-order-2", "R has a component of order 2: valid only with the cofactor", lambda s, m: ONE.sign(m,
            ed25519.ORDER_2)),
        ("r-with-order-8", "R has a component of order 8: valid only with the cofactor", lambda s, m: ONE.sign(m,
            ed25519.ORDER_8)),
        ("r-of-order-2", "R is the point of order 2: valid only with the cofactor", lambda s, m: ONE.sign(m, ed25519.ORDER_2,
            nonce=0)),
        ("r-of-order-8", "R is a point of order 8: valid only with the cofactor", lambda s, m: ONE.sign(m, ed25519.ORDER_8,
            nonce=0)),
        ("r-not-canonical", "R is the neutral point, written with y = p + 1",
         lambda s, m: ONE.sign(m, nonce=0, r=(ed25519.P + 1).to_bytes(32, "little"))),
        ("r-neutral-with-sign", "R is the neutral point, written with the top bit",
         lambda s, m: ONE.sign(m, nonce=0, r=b"\1" + bytes(30) + b"\x80")),
        ("r-no-point", "R is no point of the curve", lambda s, m: ONE.sign(m, nonce=0, r=b"\2" + bytes(31)))]:
    vector("U9", name, what, INVALID, signatures=changed(how))
vector("U9", "r-neutral", "R is the neutral point in its only encoding, and the equation holds without the cofactor", GOOD,
       signatures=changed(lambda s, m: ONE.sign(m, nonce=0)))
vector("U9", "other-message", "a valid signature of another payload", INVALID, signatures=lambda c: signed((ONE,), c + b" "))
vector("U9", "other-key", "a valid signature by a key that is not in keys", INVALID, by=(STRANGER,))

# Keys of mixed order. The residue of k decides, so the payload is chosen for it.
MIXED = Signer("mixed", ed25519.ORDER_8)


def mixed(wanted):
    """A payload whose challenge k has the wanted properties: of k and of k modulo L, whether 8 divides it."""
    for n in range(10000):
        content = payload(more=', "x": %d' % n)
        signed = MIXED.sign(message(content.encode()))
        k = MIXED.challenge(signed[:32], message(content.encode()))
        if (k % 8 == 0, k % ed25519.L % 8 == 0) == wanted:
            return content


for name, what, expect, wanted in [
        ("valid", "8 divides k, so the equation holds without the cofactor", accepted(signers=(MIXED,)), (True, True)),
        ("invalid", "the equation holds only with the cofactor", INVALID, (False, False)),
        ("k-is-reduced", "8 divides k only after k is reduced modulo L", accepted(signers=(MIXED,)), (False, True)),
        ("k-is-reduced-first", "8 divides k only before k is reduced modulo L", INVALID, (True, False))]:
    vector("U9", "mixed-order-" + name, "a key of mixed order: " + what, expect, parts=[mixed(wanted)], by=(MIXED,), keys=(ONE,
        MIXED))

NO_POINT = (2).to_bytes(32, "little").hex()
vector("U9", "key-is-no-point", "a key beside others that is no point of the curve", GOOD, keys=(ONE, NO_POINT))
vector("U9", "key-is-no-point-needed", "a key that is no point of the curve signs nothing", FEW, keys=(ONE, NO_POINT),
    threshold=2,
       signatures=lambda c: signed((ONE,), c) + [signature(bytes(64)), signature(b"\1" + bytes(63))])

LOW = ["0000000000000000000000000000000000000000000000000000000000000000",
       "0100000000000000000000000000000000000000000000000000000000000000",
       "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
       "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
       "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"]
WITH_TOP_BIT = [y[:62] + "%02x" % (int(y[62:], 16) | 0x80) for y in LOW]
for n, (y, with_top_bit) in enumerate(zip(LOW, WITH_TOP_BIT), 1):
    key_vector("small-order-%d" % n, "a y of the list", "refused", y)
    key_vector("small-order-%d-top-bit" % n, "a y of the list with the top bit", "refused", with_top_bit)
for n in range(0, 19):
    if n in (0, 1, 2, 18):
        y = ed25519.P + n
        key_vector("not-canonical-%d" % n, "y is p + %d" % n, "refused", y.to_bytes(32, "little").hex())
        key_vector("not-canonical-%d-top-bit" % n, "y is p + %d, with the top bit" % n, "refused", (y | 1 << 255).to_bytes(32,
            "little").hex())
key_vector("good", "an ordinary key", "usable", ONE)
key_vector("below-p", "y is p - 2", "usable", (ed25519.P - 2).to_bytes(32, "little").hex())
key_vector("no-point", "y is 2, which no point has: acceptable, and signs nothing", "usable", NO_POINT)
key_vector("mixed-order", "a key of mixed order", "usable", MIXED)
key_vector("mixed-order-2", "a key of mixed order, with a component of order 2", "usable", Signer("mixed", ed25519.ORDER_2))
key_vector("31-bytes", "31 bytes", "refused", ONE.public.hex()[:62])
key_vector("33-bytes", "33 bytes", "refused", ONE.public.hex() + "00")
key_vector("0-bytes", "no byte", "refused", "")
key_vector("beside-good", "a key of small order beside an ordinary one", "refused", ONE, LOW[1])
key_vector("1-key", "one key", "usable", ONE, rule="inputs")
key_vector("16-keys", "16 keys, all needed", "usable", *SIXTEEN, threshold=16, rule="inputs")
key_vector("no-key", "no key", "refused", rule="inputs")
key_vector("17-keys", "17 keys", "refused", *SIXTEEN, ONE, rule="inputs")
key_vector("key-twice", "a key twice", "refused", ONE, TWO, ONE, rule="inputs")
key_vector("threshold-0", "a threshold of 0", "refused", ONE, threshold=0, rule="inputs")
key_vector("threshold-2-of-1", "a threshold above the number of keys", "refused", ONE, threshold=2, rule="inputs")
key_vector("threshold-2-of-2", "a threshold that equals the number of keys", "usable", ONE, TWO, threshold=2, rule="inputs")

# --- U11 to U14 ------------------------------------------------------------------------------------------------------------

BOTH_SIGNED = accepted(signers=(ONE, TWO))
vector("U11", "two-signers", "both keys have signed", BOTH_SIGNED, by=(ONE, TWO))
vector("U11", "stranger-beside", "a signature by another key beside a valid one", GOOD, by=(STRANGER, ONE))
vector("U11", "wrong-keyid", "the keyid of another key of keys", GOOD, signatures=lambda c: [signature(ONE.sign(message(c)),
    TWO.id)])
vector("U11", "foreign-keyid", "a keyid that no key has", GOOD, signatures=lambda c: [signature(ONE.sign(message(c)),
    "nonsense")])
vector("U11", "borrowed-keyid", "a signature by another key with the keyid of a key of keys", INVALID,
       signatures=lambda c: [signature(STRANGER.sign(message(c)), ONE.id)])
vector("U11", "one-key-twice", "the same signature twice counts once", FEW, by=(ONE, ONE), threshold=2)
vector("U11", "one-key-two-ids", "the same signature twice under two key ids counts once", FEW, threshold=2,
       signatures=lambda c: [signature(ONE.sign(message(c)), ONE.id), signature(ONE.sign(message(c)), TWO.id)])
vector("U11", "one-key-two-signatures", "two different valid signatures by one key count once", FEW, threshold=2,
       signatures=lambda c: [signature(ONE.sign(message(c)), ONE.id), signature(ONE.sign(message(c), nonce=7), TWO.id)])
vector("U11", "duplicate-beside-second", "a signature twice, and one by the second key", BOTH_SIGNED, by=(ONE, ONE, TWO),
    threshold=2)


def padded(length):
    """A payload of blanks behind JSON, so that the message has this length."""
    for digits in range(1, 9):
        size = length - len(message(b"")) + 1 - digits
        if len(str(size)) == digits:
            return [payload(), {"repeat": " ", "times": size - len(payload())}]


def filler(n, s=False):
    """64 bytes that are no signature: S is small enough, or at least L."""
    body = hashlib.sha512(b"filler %d" % n).digest()
    return body[:63] + (b"\xff" if s else b"\0")


MIB = 1048576  # 2^28 / 2^20 is 256: 16 signatures times 16 keys
LAST = SIXTEEN[15]


def limited(length, fillers, id=None):
    def signatures(c):
        return [signature(f) for f in fillers] + [signature(LAST.sign(message(c)), id)]
    return {"parts": padded(length), "keys": SIXTEEN, "signatures": signatures}


QUICK = [filler(n, True) for n in range(15)]
vector("U12", "all-pairs", "256 pairs and a message of 1,048,576 bytes: the last pair is tried", accepted(signers=(LAST,)),
       **limited(MIB, [filler(n) for n in range(15)]))
vector("U12", "one-pair-less", "256 pairs and a message of 1,048,577 bytes: the last pair is not tried", INVALID,
       **limited(MIB + 1, [filler(n) for n in range(15)]))
vector("U12", "pairs-without-hash", "a pair whose S is too large counts too", INVALID, **limited(MIB + 1, QUICK))
vector("U12", "hinted-pair-first", "the last signature lists the id of its key", accepted(signers=(LAST,)), **limited(MIB + 1,
    QUICK, LAST.id))
vector("U12", "hint-of-another-key", "the last signature lists the id of another key", INVALID, **limited(MIB + 1, QUICK,
    SIXTEEN[0].id))
vector("U12", "hint-in-upper-case", "the last signature lists the id of its key in upper case", INVALID,
       **limited(MIB + 1, QUICK, LAST.id.upper()))
vector("U12", "equal-signatures", "15 different signatures make 240 pairs", accepted(signers=(LAST,)),
       **limited(MIB + 1, QUICK[:14] + QUICK[13:14]))
vector("U12", "other-lengths", "15 signatures of 64 bytes make 240 pairs", accepted(signers=(LAST,)),
       **limited(MIB + 1, QUICK[:14] + [b"short"]))
vector("U12", "pairs-of-signers-are-skipped", "the pairs of a key that is a signer already do not count",
    accepted(signers=(SIXTEEN[0], LAST)),
       parts=padded(MIB + 1), keys=SIXTEEN, threshold=2, signatures=lambda c: [signature(SIXTEEN[0].sign(message(c)))]
       + [signature(f) for f in QUICK[:14]] + [signature(LAST.sign(message(c)))])
vector("U12", "id-of-an-equal-signature", "one of two equal signatures lists the id of the key", accepted(signers=(LAST,)),
       # A message of more than 1,198,372 bytes: T is 223, and the pair would be the last of 224.
       parts=padded(1198373), keys=SIXTEEN, signatures=lambda c: [signature(f) for f in QUICK[:13]]
       + [signature(LAST.sign(message(c)), "")] + [signature(LAST.sign(message(c)), LAST.id)])
vector("U12", "no-id-of-an-equal-signature", "two equal signatures without the id of the key", INVALID,
       parts=padded(1198373), keys=SIXTEEN,
           signatures=lambda c: [signature(f) for f in QUICK[:13]] + [signature(LAST.sign(message(c)), "")] * 2)
vector("U12", "place-of-equal-signatures", "equal signatures stand at the place of the first", accepted(signers=(LAST,)),
       parts=padded(1198373), keys=SIXTEEN,
           signatures=lambda c: [signature(LAST.sign(message(c)))] + [signature(f) for f in QUICK[:13]]
       + [signature(LAST.sign(message(c)))])

# T is 240.
for name, what, expect, signer, place in [
        ("signatures-then-keys", "the last key of signature 15 is pair 240", accepted(signers=(LAST,)), LAST, 14),
        ("signatures-then-keys-beyond", "the first key of signature 16 is pair 241", INVALID, SIXTEEN[0], 15)]:
    vector("U12", name, what, expect, parts=padded(1118481), keys=SIXTEEN, signatures=lambda c, signer=signer, place=place:
           [signature(f) for f in QUICK[:place]] + [signature(signer.sign(message(c)))] + [signature(f) for f in QUICK[place:]])

vector("U13", "one-of-two", "one signature where two are needed", FEW, threshold=2)
vector("U13", "two-of-two", "two signatures where two are needed", BOTH_SIGNED, threshold=2, by=(ONE, TWO))
vector("U13", "two-of-three", "two signatures of three keys", accepted(signers=(ONE, THREE)), keys=(ONE, TWO, THREE), threshold=2,
       by=(THREE, ONE))
vector("U13", "one-and-a-stranger", "one signature and one by another key where two are needed", FEW, threshold=2, by=(ONE,
    STRANGER))
vector("U13", "sixteen-of-sixteen", "16 signatures by 16 keys", accepted(signers=SIXTEEN), keys=SIXTEEN, threshold=16, by=SIXTEEN)
vector("U13", "fifteen-of-sixteen", "15 signatures by 16 keys, one of them twice", FEW, keys=SIXTEEN, threshold=16,
       by=SIXTEEN[:15] + SIXTEEN[:1])
for name, type in [
        ("case", TYPE.replace("pintle", "Pintle")),
        ("parameter", TYPE + "; charset=utf-8"),
        ("empty", ""),
        ("blank", TYPE + " "),
        ("json", "application/json"),
        ("zero", TYPE + "\0"),
        ("later", TYPE.replace("policy", "policy.v2"))]:
    vector("U14", name, "another payload type: " + (type or "the empty text"), UNKNOWN, type=type)

# --- U15 to U18: payload ---------------------------------------------------------------------------------------------------

vector("U15", "most-deep", "depth 18 in an unknown member", GOOD, more="", parts=[payload(more=', "x": ' + "[" * 17 + "]" * 17)])
vector("U15", "too-deep", "depth 19 in an unknown member", PAYLOAD, parts=[payload(more=', "x": ' + "[" * 18 + "]" * 18)])
vector("U15", "many-values", "20,000 values: the limit of the envelope is none of the payload", GOOD,
       parts=[payload(more=', "x": [')[:-1], {"repeat": "0, ", "times": 19999}, "0]}"])
vector("U15", "numbers-of-any-form", "a fraction and an exponent in an unknown member", GOOD,
    parts=[payload(more=', "x": [0.5, 1e400]')])
for name, what, parts in [
        ("empty", "no byte", [""]),
        ("no-json", "no JSON", ["nothing"]),
        ("list", "a list around the payload", ["[" + payload() + "]"]),
        ("null", "null", ["null"]),
        ("trailing", "one more value behind the payload", [payload() + "{}"]),
        ("byte-order-mark", "a byte order mark", [{"hex": "efbbbf"}, payload()]),
        ("invalid-utf8", "a byte that is no UTF-8", [payload(more=', "x": "')[:-1], {"hex": "c0af"}, '"}']),
        ("trailing-comma", "a comma behind the last member", [payload(more=",")]),
        ("duplicate-version", "version twice", [payload(more=', "version": 7')]),
        ("duplicate-policy", "policy twice", [payload(more=', "policy": ' + UPDATE)]),
        ("duplicate-escaped", "policy twice, once written with an escape", [payload(more=', "polic\\u0079": ' + UPDATE)]),
        ("duplicate-unknown", "an unknown member twice", [payload(more=', "x": 0, "x": 0')]),
        ("duplicate-in-policy", "hosts twice in the policy", [payload(policy=UPDATE[:-1] + ', "hosts": []}')]),
        ("duplicate-in-rule", "host twice in a rule", [payload(policy=UPDATE.replace('"host": ',
            '"host": "example.com", "host": '))])]:
    vector("U15", name, what, PAYLOAD, parts=parts)

FULL = {"version": "7", "issuedAt": '"2026-11-01T00:00:00Z"', "expiresAt": '"2027-02-18T00:00:00Z"', "policy": UPDATE}


def members_of_payload(**changes):
    return {"parts": [of(*[(key, value) for key, value in {**FULL, **changes}.items() if value is not None])]}


for key in FULL:
    vector("U16", "no-" + key.lower(), "no " + key, PAYLOAD, **members_of_payload(**{key: None}))
    vector("U16", "null-" + key.lower(), key + " is null", PAYLOAD, **members_of_payload(**{key: "null"}))
vector("U16", "number-as-date", "issuedAt is a number", PAYLOAD, **members_of_payload(issuedAt="1793491200"))
vector("U16", "list-as-policy", "policy is a list", PAYLOAD, **members_of_payload(policy="[%s]" % UPDATE))
vector("U16", "string-as-policy", "policy is a string", PAYLOAD, **members_of_payload(policy=text(UPDATE)))
vector("U16", "order", "the members in another order", GOOD, parts=[of(*reversed(FULL.items()))])
for name, date in [
        ("offset", "2026-11-01T01:00:00+01:00"),
        ("lower-case", "2026-11-01t00:00:00z"),
        ("fraction", "2026-11-01T00:00:00.5Z"),
        ("fraction-of-9", "2026-11-01T00:00:00.123456789Z"),
        ("leap-day", "2024-02-29T00:00:00Z"),
        ("leap-day-2000", "2000-02-29T23:59:59Z"),
        ("year-0", "0000-01-01T00:00:00Z"),
        ("offset-23-59", "2026-11-01T00:00:00-23:59"),
        ("offset-minus-0", "2026-11-01T00:00:00-00:00"),
        ("year-0-offset", "0000-01-01T00:00:00+23:59")]:
    vector("U16", "date-" + name, "issuedAt is " + date, GOOD, issued=date)
for name, date in [
        ("empty", ""),
        ("day-only", "2026-11-01"),
        ("no-zone", "2026-11-01T00:00:00"),
        ("blank", "2026-11-01 00:00:00Z"),
        ("before", " 2026-11-01T00:00:00Z"),
        ("behind", "2026-11-01T00:00:00Z "),
        ("no-colon", "2026-11-01T00:00:00+0100"),
        ("offset-24", "2026-11-01T00:00:00+24:00"),
        ("offset-60", "2026-11-01T00:00:00+01:60"),
        ("hour-24", "2026-11-01T24:00:00Z"),
        ("minute-60", "2026-11-01T00:60:00Z"),
        ("second-60", "2016-12-31T23:59:60Z"),
        ("day-0", "2026-11-00T00:00:00Z"),
        ("day-31", "2026-09-31T00:00:00Z"),
        ("month-0", "2026-00-01T00:00:00Z"),
        ("month-13", "2026-13-01T00:00:00Z"),
        ("no-leap-day", "2026-02-29T00:00:00Z"),
        ("no-leap-day-1900", "1900-02-29T00:00:00Z"),
        ("year-3", "226-11-01T00:00:00Z"),
        ("year-5", "12026-11-01T00:00:00Z"),
        ("year-minus", "-2026-11-01T00:00:00Z"),
        ("fraction-of-0", "2026-11-01T00:00:00.Z"),
        ("fraction-of-10", "2026-11-01T00:00:00.1234567890Z"),
        ("comma", "2026-11-01T00:00:00,5Z"),
        ("short", "2026-11-1T00:00:00Z"),
        ("no-seconds", "2026-11-01T00:00Z"),
        ("two-zones", "2026-11-01T00:00:00ZZ"),
        ("zone-name", "2026-11-01T00:00:00UTC"),
        ("arabic-digits", "\u0662\u0660\u0662\u0666-11-01T00:00:00Z")]:
    vector("U16", "no-date-" + name, "issuedAt is " + (date or "empty"), PAYLOAD, issued=date)
vector("U16", "date-year-9999", "expiresAt is the last second of the year 9999, in a zone where UTC is later", GOOD,
    expires="9999-12-31T23:59:59-23:59")

for name, number, expect in [
        ("one", "1", accepted(1)),
        ("highest", "9007199254740991", accepted(9007199254740991)),
        ("too-high", "9007199254740992", ROLLBACK),
        ("zero", "0", ROLLBACK),
        ("minus-zero", "-0", ROLLBACK),
        ("minus-one", "-1", ROLLBACK),
        ("highest-64-bit", "9223372036854775807", ROLLBACK),
        ("beyond-64-bit", "9223372036854775808", ROLLBACK),
        ("beyond-unsigned", "18446744073709551623", ROLLBACK),
        ("hundred-digits", "1" + "0" * 99, ROLLBACK),
        ("lowest-64-bit", "-9223372036854775808", ROLLBACK),
        ("below-64-bit", "-9223372036854775809", PAYLOAD),
        ("fraction", "7.0", PAYLOAD),
        ("exponent", "7e0", PAYLOAD),
        ("big-exponent", "1e2", PAYLOAD),
        ("string", '"7"', PAYLOAD),
        ("true", "true", PAYLOAD),
        ("leading-zero", "07", PAYLOAD),
        ("plus", "+7", PAYLOAD)]:
    vector("U17", name, "version is " + (number if len(number) < 50 else "a number of 100 digits"), expect, version=number)
vector("U18", "unknown-members", "unknown members of the payload", GOOD,
    parts=[payload(more=', "later": {"a": [1.5]}, "keys": []')])
vector("U18", "many-unknown-members", "40 unknown members of the payload", GOOD,
       parts=[payload(more="".join(', "x%d": %d' % (n, n) for n in range(40)))])

# --- U19 to U26: version and dates -----------------------------------------------------------------------------------------

SAME = [payload()]
vector("U19", "other-keys", "a high floor of other keys", GOOD, floor=floor(9007199254740991, ["x"], ONE, THREE))
vector("U19", "fewer-keys", "a high floor of one of the keys", GOOD, floor=floor(9007199254740991, ["x"], ONE))
vector("U19", "same-keys", "a high floor of the same keys", ROLLBACK, floor=floor(9007199254740991, ["x"]))
vector("U19", "order-of-keys", "the keys in another order have the same id", ROLLBACK, keys=(TWO, ONE), floor=floor(8, ["x"]))
vector("U19", "threshold-is-no-part", "the floor counts with another threshold", ROLLBACK, threshold=2, by=(ONE, TWO),
    floor=floor(8, ["x"]))
vector("U19", "upper-case-id", "a floor whose key-set id is in upper case", GOOD,
       floor={**floor(8, ["x"]), "keySetID": key_set(ONE, TWO).upper()})
vector("U20", "floor-below", "the floor is lower", GOOD, floor=floor(6, ["x"]))
vector("U20", "floor-above", "the floor is higher", ROLLBACK, floor=floor(8, ["x"]))
vector("U20", "bundled-below", "the bundled version is lower", GOOD, bundled=policy(rule(), updateVersion=6))
vector("U20", "bundled-above", "the bundled version is higher", ROLLBACK, bundled=policy(rule(), updateVersion=8))
vector("U20", "minimum-equal", "the minimum is the version", GOOD, minimum=7)
vector("U20", "minimum-above", "the minimum is higher", ROLLBACK, minimum=8)
vector("U20", "highest-counts", "a low floor and a high bundled version", ROLLBACK, bundled=policy(rule(), updateVersion=8),
    floor=floor(3, ["x"]))
vector("U20", "floor-of-other-keys-and-bundled", "a high bundled version counts with each set of keys", ROLLBACK,
       bundled=policy(rule(), updateVersion=8), floor=floor(3, ["x"], THREE))
vector("U21", "without-bundled", "version 0 without a bundled policy and without a floor", ROLLBACK, version="0", bundled=None)
vector("U22", "same-payload", "the floor's payload", accepted(unchanged=True), floor=floor(7, SAME))
vector("U22", "other-envelope", "the floor's payload with another signature", accepted(signers=(TWO,), unchanged=True), by=(TWO,),
    floor=floor(7, SAME))
vector("U22", "other-payload", "another payload under the floor's version", REPLACED, floor=floor(7,
    [payload(issued="2026-11-01T00:00:01Z")]))
vector("U22", "other-blanks", "the same JSON with one blank more", REPLACED, floor=floor(7, [payload() + " "]))
vector("U22", "of-other-keys", "another payload under the version of a floor of other keys", GOOD, floor=floor(7, ["x"], ONE))
SEVEN = policy(rule(n=2), updateVersion=7)
vector("U23", "same-rules", "the bundled version with the bundled rules", accepted(unchanged=True), bundled=SEVEN)
vector("U23", "other-rules", "the bundled version with other rules", REPLACED, bundled=policy(rule(n=3), updateVersion=7))
vector("U23", "floor-has-it-too", "the bundled version with other rules is the floor's payload", accepted(unchanged=True),
       bundled=policy(rule(n=3), updateVersion=7), floor=floor(7, SAME))
vector("U23", "floor-below", "the bundled version with the bundled rules above the floor", accepted(unchanged=True),
    bundled=SEVEN, floor=floor(3, ["x"]))
vector("U23", "floor-below-other-rules", "the bundled version with other rules above the floor", REPLACED,
       bundled=policy(rule(n=3), updateVersion=7), floor=floor(3, ["x"]))
vector("U23", "floor-of-other-keys", "the bundled version with other rules, and the same payload under other keys", REPLACED,
       bundled=policy(rule(n=3), updateVersion=7), floor=floor(7, SAME, THREE))
vector("U23", "problem-of-meaning", "the bundled version with other rules and without backup pins", POLICY,
       bundled=SEVEN, policy=policy(bare(pins=[pin(1)])))
vector("U23", "problem-of-reading", "the bundled version with an unknown key", POLICY, bundled=SEVEN, policy=policy(rule(n=3),
    later=1))
vector("U23", "problem-and-scope", "the bundled version without backup pins, for another host: the scope is checked first", SCOPE,
       bundled=SEVEN, policy=policy(rule(n=2), bare("example.net", pins=[pin(1)])))
vector("U23", "anchor-file", "the bundled version with an anchor file: the scope is checked first", SCOPE, bundled=SEVEN,
       policy=policy(rule(n=2, anchors={"include": ["root.pem"]})))
vector("U23", "before-dates", "the bundled version with other rules, ended", REPLACED, bundled=policy(rule(n=3), updateVersion=7),
    expires=PAST)

URL = "https://reports.example.net/pins"
T, T1 = "2027-06-01T00:00:00Z", "2027-06-01T00:00:01Z"


# --- Certificates for anchors ----------------------------------------------------------------------------------------------

def der(tag, *parts):
    body = b"".join(parts)
    size = len(body).to_bytes((len(body).bit_length() + 7) // 8, "big") or b"\0"
    return bytes([tag]) + (size if len(body) < 128 else bytes([0x80 | len(size)]) + size) + body


def authority(name, zeros=0):
    """A self-signed certificate as PEM text, with an extension of zeros."""
    signer = Signer("authority " + name)
    algorithm = der(0x30, bytes.fromhex("06032b6570"))
    subject = der(0x30, der(0x31, der(0x30, bytes.fromhex("0603550403"), der(0x0C, name.encode()))))
    zeros = der(0x30, bytes.fromhex("06062b0601040101"), der(0x04, bytes(zeros))) if zeros else b""
    constraints = der(0x30, der(0x30, bytes.fromhex("0603551d130101ff"), der(0x04, bytes.fromhex("30030101ff"))), zeros)
    body = der(0x30, bytes.fromhex("a003020102020101"), algorithm, subject,
               der(0x30, der(0x17, b"250101000000Z"), der(0x17, b"491231235959Z")), subject,
               der(0x30, algorithm, der(0x03, b"\0", signer.public)), der(0xA3, constraints))
    certificate = base64.b64encode(der(0x30, body, algorithm, der(0x03, b"\0", signer.sign(body)))).decode()
    lines = [certificate[place:place + 64] for place in range(0, len(certificate), 64)]
    return "\n".join(["-----BEGIN CERTIFICATE-----", *lines, "-----END CERTIFICATE-----", ""])


CA, CB = authority("Vector CA A"), authority("Vector CA B")


def anchors(*include, system=None):
    return {"anchors": {**({"include": list(include)} if include else {}), **({} if system is None else {"system": system})}}


def same(name, what, bundled, update, is_same=True, **top):
    """U24, shown with the bundled version: the same rules are accepted as unchanged, others are refused."""
    bundled, update = [list(x) if isinstance(x, (list, tuple)) else [x] for x in (bundled, update)]
    vector("U24", name, what, accepted(unchanged=True) if is_same else REPLACED,
           bundled=policy(*bundled, updateVersion=7), policy=policy(*update, **top))


A, B = rule("a.example"), rule("b.example", n=3)
same("order-of-rules", "rules in another order", (A, B), (B, A))
same("fewer-rules", "a rule is missing", (A, B), (A,), False)
same("more-rules", "a rule more", (A,), (A, B), False)
same("unpinned-hosts", "other unpinnedHosts", A, A, False, unpinnedHosts="reject")
same("unpinned-hosts-default", "unpinnedHosts written with its default", A, A, unpinnedHosts="systemTrust")
same("schema-and-updates", "other $schema, updateVersion and updates", A, A, **{"$schema": "x", "updateVersion": 3,
    "updates": {"anyHost": True}})
same("notes", "other notes", {**A, "note": "one"}, {**A, "note": "two"})
same("note-of-pin", "a note of a pin", A, {**A, "pins": [{"spki": pin(1), "note": "x"}]})
same("defaults", "members written with their defaults", A,
     {**A, "includeSubdomains": False, "requires": "anyPin", "enforcement": "enforce", "anchors": {"system": True}})
same("position", "the position any, written or not", A, {**A, "pins": [{"spki": pin(1), "at": "any"}]})
same("other-position", "another position", A, {**A, "pins": [{"spki": pin(1), "at": "leaf"}]}, False)
same("pins-as-bytes", "the same pins in other texts", A, {**A, "pins": ['pin-sha256="%s"' % pin(1)[7:].replace("+",
    "-").replace("/", "_").rstrip("=")]})
same("other-host", "another host", A, {**A, "host": "b.example"}, False)
BOTH_OF_A = {**A, "pins": [{"spki": pin(1), "at": "leaf"}, {"spki": pin(2), "at": "ca"}], "backupPins": "none-accepted"}
same("requires", "leafAndCA", BOTH_OF_A, {**BOTH_OF_A, "requires": "leafAndCA"}, False)
same("order-of-pins", "pins in another order", {**A, "pins": [pin(1), pin(2)]}, {**A, "pins": [pin(2), pin(1)]}, False)
same("order-of-backup-pins", "backup pins in another order", {**A, "backupPins": [pin(8), pin(9)]}, {**A, "backupPins": [pin(9),
    pin(8)]}, False)
same("backup-becomes-active", "pins and backup pins exchanged", A, {**A, "pins": A["backupPins"], "backupPins": A["pins"]}, False)
same("host-in-upper-case", "the host in upper case and with a dot at its end", A, {**A, "host": "A.EXAMPLE."})
same("other-port", "a port", A, {**A, "port": 443}, False)
same("subdomains", "includeSubdomains", A, {**A, "includeSubdomains": True}, False)
same("enforcement", "reportOnly", A, {**A, "enforcement": "reportOnly"}, False)
same("withdraws", "withdraws", A, {**A, "withdraws": "the provider ends"}, False)
same("path-length-1", "minimumPathLength 1 and none", A, {**A, "minimumPathLength": 1}, False)
same("issuer-key", "another issuerKey", {**A, "issuerKey": pin(4)}, {**A, "issuerKey": pin(5)}, False)
same("issuer-key-as-bytes", "issuerKey without padding", {**A, "issuerKey": pin(4)}, {**A, "issuerKey": pin(4).rstrip("=")})
REPORTING = bare("a.example", pins=[pin(1)], enforcement="reportOnly")
same("none-accepted", "none-accepted and no backup pins", REPORTING, {**REPORTING, "backupPins": "none-accepted"}, False)
same("order-of-reports", "report addresses in another order", {**A, "reportTo": [URL, URL + "/2"]}, {**A, "reportTo": [URL + "/2",
    URL]}, False)
same("reports-as-text", "a report address with its host in upper case", {**A, "reportTo": [URL]}, {**A,
    "reportTo": [URL.replace("reports", "REPORTS")]}, False)
END = {"after": T, "then": "reject"}
same("expiry-added", "an expiry", A, {**A, "expiry": END}, False)
same("expiry-in-seconds", "expiry dates in one second", {**A, "expiry": END}, {**A, "expiry": {**END,
    "after": "2027-06-01T00:00:00.9Z"}})
same("expiry-in-another-zone", "one expiry date in two zones", {**A, "expiry": END}, {**A, "expiry": {**END,
    "after": "2027-06-01T02:00:00+02:00"}})
same("expiry-one-second", "expiry dates one second apart", {**A, "expiry": END}, {**A, "expiry": {**END, "after": T1}}, False)
same("expiry-before-1970", "expiry dates before 1970 are rounded down too", {**A, "expiry": {**END,
    "after": "1969-12-31T23:59:58.1Z"}},
     {**A, "expiry": {**END, "after": "1969-12-31T23:59:58.9Z"}})
same("expiry-fall-back", "another fall-back", {**A, "expiry": END}, {**A, "expiry": {**END, "then": "systemTrust"}}, False)
same("anchors", "the same anchors, with system written", {**A, **anchors(CA)}, {**A, **anchors(CA, system=False)})
same("order-of-anchors", "anchors in another order", {**A, **anchors(CA, CB)}, {**A, **anchors(CB, CA)}, False)
same("anchors-in-one-text", "two anchors in one text", {**A, **anchors(CA, CB)}, {**A, **anchors(CA + CB)})
same("anchors-with-system", "the system's anchors added", {**A, **anchors(CA)}, {**A, **anchors(CA, system=True)}, False)

same("empty-lists", "empty lists in place of absent ones", bare("a.example"), bare("a.example", pins=[], backupPins=[], reportTo=[]))
same("empty-include", "an empty list of anchors, with the system's", A, {**A, "anchors": {"include": [], "system": True}})
same("subject", "the pin of a key and of a certificate with the same bytes", {**A, "pins": [pin(1)]},
     {**A, "pins": [{"certificate": base64.b64decode(pin(1)[7:]).hex()}]}, False)
same("two-notes", "a note of the policy's rule, and none", {**A, "note": "x"}, A)

HIGHEST = 9007199254740991
vector("U21", "highest-floor", "the floor's payload under the highest version", accepted(HIGHEST, unchanged=True), version=str(HIGHEST),
       floor=floor(HIGHEST, [payload(version=str(HIGHEST))]))
vector("U21", "highest-bundled", "the bundled rules under the highest version", accepted(HIGHEST, unchanged=True), version=str(HIGHEST),
       bundled=policy(rule(n=2), updateVersion=HIGHEST))
vector("U21", "highest-minimum", "a minimum above the highest version", ROLLBACK, version=str(HIGHEST), minimum=HIGHEST + 1)
vector("U25", "issued-now", "issuedAt is now", GOOD, issued=NOW)
vector("U25", "issued-in-one-second", "issuedAt is one second from now", EARLY, issued=FUTURE)
vector("U25", "issued-in-a-part-of-a-second", "issuedAt is half a second from now", EARLY, issued="2026-11-20T12:00:00.5Z")
vector("U25", "issued-now-elsewhere", "issuedAt is now, in another zone", GOOD, issued="2026-11-20T17:30:00+05:30")
vector("U25", "expires-now", "expiresAt is now", LATE, expires=NOW)
vector("U25", "expires-in-one-second", "expiresAt is one second from now", GOOD, expires=FUTURE)
vector("U25", "expires-in-a-part-of-a-second", "expiresAt is half a second from now", GOOD, expires="2026-11-20T12:00:00.5Z")
vector("U25", "now-with-a-fraction", "now is half a second after expiresAt", LATE, expires=NOW, now="2026-11-20T12:00:00.5Z")
vector("U25", "ends-before-issue", "expiresAt is before issuedAt, and both have passed", LATE, expires="2026-10-01T00:00:00Z")
vector("U25", "stored-expired", "an ended update that is stored", GOOD, expires=PAST, stored=True)
vector("U25", "stored-not-issued", "an update from the future that is stored", GOOD, issued=FUTURE, stored=True)
vector("U25", "expired-floor", "an ended update that equals the floor", LATE, expires=PAST, floor=floor(7,
    [payload(expires=PAST)]))
vector("U25", "stored-expired-floor", "an ended update that equals the floor and is stored", accepted(unchanged=True),
    expires=PAST,
       floor=floor(7, [payload(expires=PAST)]), stored=True)
vector("U25", "stored-rollback", "a stored update is compared with the floor", ROLLBACK, floor=floor(8, ["x"]), stored=True)
vector("U25", "stored-other-payload", "a stored update has another payload than the floor", REPLACED, floor=floor(7, ["x"]),
    stored=True)
vector("U25", "stored-no-signature", "a stored update is verified again", INVALID, by=(STRANGER,), stored=True)
vector("U25", "stored-other-rules", "a stored update has the bundled version and other rules", REPLACED,
       bundled=policy(rule(n=3), updateVersion=7), stored=True)
vector("U25", "stored-scope", "a stored update is compared with the bundled policy again", SCOPE, policy=policy(rule(), rule("example.net")),
       stored=True)
vector("U26", "bundled-below-floor", "the floor's payload above the bundled version", accepted(unchanged=True),
       bundled=policy(rule(), updateVersion=3), floor=floor(7, SAME))
vector("U26", "new-version", "a version above both", GOOD, bundled=policy(rule(), updateVersion=3), floor=floor(6, ["x"]))
vector("U26", "same-rules-new-version", "the bundled rules under a higher version", GOOD, bundled=policy(rule(n=2),
    updateVersion=6))
vector("U26", "version-of-other-keys", "the version of a floor of other keys", GOOD, floor=floor(7, SAME, THREE))

# --- U27 to U41: policy and scope ------------------------------------------------------------------------------------------


def scope(rule, name, what, bundled, update, expect=SCOPE, top={}, bundled_top={}, **inputs):
    """`top` are members of both policies."""
    bundled, update = [list(x) if isinstance(x, (list, tuple)) else [x] for x in (bundled, update)]
    vector(rule, name, what, GOOD if expect is None else expect, bundled=policy(*bundled, **{**top, **bundled_top}),
           policy=policy(*update, **top), **inputs)


ANY = {"bundled_top": {"updates": {"anyHost": True}}}
E = rule()
for name, what, changed_rule in [
        ("unknown-key", "an unknown key in a rule", {**E, "later": 1}),
        ("wrong-type", "port is a string", {**E, "port": "443"}),
        ("unknown-value", "a word that requires does not have", {**E, "requires": "allPins"}),
        ("invalid-host", "a wildcard as host", {**E, "host": "*.example.com"}),
        ("invalid-port", "port 0", {**E, "port": 0}),
        ("invalid-pin", "a pin that is no base64", {**E, "pins": ["sha256/x!"]}),
        ("non-canonical-pin", "a pin that is not canonical", {**E, "pins": [pin(1)[:-2] + chr(ord(pin(1)[-2]) + 1) + "="]}),
        ("invalid-date", "an expiry that is no date", {**E, "expiry": {"after": "soon", "then": "reject"}}),
        ("invalid-note", "a note of two lines", {**E, "note": "a\nb"}),
        ("missing-key", "a rule without host", {"pins": [pin(1)]}),
        ("empty-reason", "an empty reason of withdraws", {**E, "withdraws": " "}),
        ("fraction", "port is a fraction", {**E, "port": 443.5}),
        ("invalid-path-length", "minimumPathLength 11", {**E, "minimumPathLength": 11})]:
    vector("U27", name, what + ", beside other unpinnedHosts", POLICY, policy=policy(changed_rule, unpinnedHosts="reject"))
vector("U27", "unknown-key-outside", "an unknown key outside of the rules", POLICY, policy=policy(E, later=1))
vector("U27", "unknown-key-in-updates", "an unknown key in updates", POLICY, policy=policy(E, updates={"later": 1}))
vector("U27", "version-2", "a policy of version 2", POLICY, policy=policy(E).replace('"version": 1', '"version": 2'))
vector("U27", "empty-policy", "an empty object as policy", POLICY, policy="{}")
vector("U27", "invalid-anchor", "an anchor that cannot be read, in place of the system's", POLICY,
       policy=policy({**E, **anchors("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")}))
vector("U27", "anchors-too-broad", "anchors for the names below a host of one label, without a bundled policy", POLICY,
    bundled=None,
       policy=policy(rule("internal", includeSubdomains=True, **anchors(CA))))
vector("U28", "without-bundled", "another host and other unpinnedHosts, without a bundled policy", GOOD, bundled=None,
       policy=policy(rule("example.net"), unpinnedHosts="reject"))
vector("U28", "without-bundled-problem", "a rule without backup pins, without a bundled policy", POLICY, bundled=None,
    policy=policy(bare(pins=[pin(1)])))
vector("U28", "without-bundled-report", "a report address, without a bundled policy", GOOD, bundled=None,
    policy=policy({**E, "reportTo": [URL]}))
vector("U28", "without-bundled-file", "an anchor file, without a bundled policy", POLICY, bundled=None,
    policy=policy({**E, **anchors("root.pem")}))
vector("U28", "not-the-floor", "a looser rule than that of the last update, but not than the bundled one", GOOD,
       bundled=policy(bare()), policy=policy(bare()), floor=floor(6, [payload(version="6")]))
for old in ("systemTrust", "reject", "askUser"):
    for new in ("systemTrust", "reject", "askUser"):
        vector("U29", "from-%s-to-%s" % (old.lower(), new.lower()), "unpinnedHosts %s becomes %s" % (old, new),
            GOOD if old == new else SCOPE,
               bundled=policy(E, unpinnedHosts=old), policy=policy(E, unpinnedHosts=new))
R1, R2 = {**E, "reportTo": [URL]}, rule("example.org", n=3)
scope("U30", "added", "reports where the bundled policy has none", E, R1)
scope("U30", "kept", "the bundled report address", R1, R1, None)
scope("U30", "removed", "no reports any more", R1, E, None)
scope("U30", "other-path-and-port", "another path and port of a bundled report host", R1, {**E,
    "reportTo": ["https://reports.example.net:8443/x"]}, None)
scope("U30", "upper-case", "a bundled report host in upper case", R1, {**E, "reportTo": ["HTTPS://Reports.Example.NET/pins"]},
    None)
scope("U30", "of-another-rule", "the report host of another bundled rule", (R1, R2), (E, {**R2, "reportTo": [URL]}), None)
scope("U30", "other-host", "another report host", R1, {**E, "reportTo": ["https://collector.example.net/pins"]})
scope("U30", "second-address", "another report host beside a bundled one", R1, {**E, "reportTo": [URL,
    "https://collector.example.net/"]})
scope("U30", "below-host", "a host below a bundled report host", R1, {**E, "reportTo": ["https://a.reports.example.net/"]})
scope("U30", "no-address", "no report address: plain HTTP", R1, {**E, "reportTo": ["http://reports.example.net/pins"]})
scope("U30", "user-in-address", "no report address: a user name", R1, {**E,
    "reportTo": ["https://reports.example.net@collector.example.net/"]})
scope("U31", "file", "an anchor file", {**E, **anchors(CA)}, {**E, **anchors("root.pem")})
scope("U31", "file-beside", "an anchor file beside the bundled certificate", {**E, **anchors(CA)}, {**E, **anchors(CA,
    "root.pem")})
scope("U31", "file-and-problem", "an anchor file in a policy that also has a problem of reading", {**E, **anchors(CA)},
      {**E, **anchors("root.pem"), "later": 1}, POLICY)


def ending(enforcement, then=None, after=T):
    return {"enforcement": enforcement, **({"expiry": {"after": after, "then": then}} if then else {})}


OPEN = [("never", ending("enforce")),
        ("reject", ending("enforce", "reject")),
        ("from", ending("enforce", "systemTrust")),
        ("always", ending("reportOnly")),
        ("always-expiring", ending("reportOnly", "systemTrust")),
        ("before", ending("reportOnly", "reject")),
        ("no-pins", None)]
WITHIN = {"never": 0, "reject": 0, "from": 1, "before": 2, "always": 3, "always-expiring": 3, "no-pins": 3}
for old, old_members in OPEN:
    for new, new_members in OPEN:
        # U32: never is within everything, everything is within always, and a time within itself.
        is_within = WITHIN[new] == 0 or WITHIN[old] == 3 or WITHIN[new] == WITHIN[old]
        scope("U32", "%s-then-%s" % (old, new), "open times: %s, then %s" % (old, new),
              bare() if old_members is None else {**E, **old_members}, bare() if new_members is None else {**E, **new_members},
              None if is_within else SCOPE)
for name, what, enforcement, then, old, new, expect in [
        ("from-later", "from one second later on", "enforce", "systemTrust", T, T1, None),
        ("from-earlier", "from one second earlier on", "enforce", "systemTrust", T1, T, SCOPE),
        ("from-earlier-in-second", "from earlier in the same second on", "enforce", "systemTrust", "2027-06-01T00:00:00.9Z",
            "2027-06-01T00:00:00.1Z", None),
        ("from-earlier-by-less", "from less than a second earlier, in another second", "enforce", "systemTrust", T,
            "2027-05-31T23:59:59.9Z", SCOPE),
        ("from-same-elsewhere", "from the same instant on, in another zone", "enforce", "systemTrust", T,
            "2027-05-31T20:00:00-04:00", None),
        ("before-earlier", "before one second earlier", "reportOnly", "reject", T1, T, None),
        ("before-later", "before one second later", "reportOnly", "reject", T, T1, SCOPE),
        ("before-later-in-second", "before later in the same second", "reportOnly", "reject", "2027-06-01T00:00:00.1Z",
            "2027-06-01T00:00:00.9Z", SCOPE),
        ("before-earlier-in-second", "before earlier in the same second", "reportOnly", "reject", "2027-06-01T00:00:00.9Z",
            "2027-06-01T00:00:00.1Z", None)]:
    scope("U32", name, "open " + what, {**E, **ending(enforcement, then, old)}, {**E, **ending(enforcement, then, new)}, expect)
scope("U32", "not-of-now", "the result does not depend on now: both times have passed", {**E, **ending("enforce", "systemTrust",
    "2020-01-02T00:00:00Z")},
      {**E, **ending("enforce", "systemTrust", "2020-01-01T00:00:00Z")})

W = {"withdraws": "the provider ends"}
BOTH_PINS = {"host": "example.com", "requires": "leafAndCA", "pins": [{"spki": pin(1), "at": "leaf"}, {"spki": pin(2),
    "at": "ca"}],
             "backupPins": [{"spki": pin(3), "at": "leaf"}]}
ANY_OF_BOTH = {**BOTH_PINS, "requires": "anyPin"}
for name, what, old, new, expect in [
        ("length-lower", "minimumPathLength 3 becomes 2", {"minimumPathLength": 3}, {"minimumPathLength": 2}, SCOPE),
        ("length-same", "minimumPathLength stays 3", {"minimumPathLength": 3}, {"minimumPathLength": 3}, None),
        ("length-higher", "minimumPathLength 3 becomes 4", {"minimumPathLength": 3}, {"minimumPathLength": 4}, None),
        ("length-removed", "minimumPathLength 2 is removed", {"minimumPathLength": 2}, {}, SCOPE),
        ("length-1-removed", "minimumPathLength 1 is removed", {"minimumPathLength": 1}, {}, None),
        ("length-1-added", "minimumPathLength 1 is added", {}, {"minimumPathLength": 1}, None),
        ("issuer-removed", "issuerKey is removed", {"issuerKey": pin(4)}, {}, SCOPE),
        ("issuer-changed", "another issuerKey", {"issuerKey": pin(4)}, {"issuerKey": pin(5)}, None),
        ("issuer-added", "issuerKey is added", {}, {"issuerKey": pin(4)}, None),
        ("length-withdrawn", "withdraws does not lower minimumPathLength", {"minimumPathLength": 3}, {"minimumPathLength": 2,
            **W}, SCOPE),
        ("issuer-withdrawn", "withdraws does not remove issuerKey", {"issuerKey": pin(4)}, W, SCOPE),
        ("open-withdrawn", "withdraws allows reportOnly", {}, {"enforcement": "reportOnly", **W}, None),
        ("open-withdrawn-in-bundled", "withdraws in the bundled rule allows nothing", W, {"enforcement": "reportOnly"}, SCOPE)]:
    scope("U33", name, what, {**E, **old}, {**E, **new}, expect)
scope("U33", "pins-withdrawn", "withdraws allows a rule without pins", E, bare(**W), None)
scope("U33", "both-to-any", "leafAndCA becomes anyPin", BOTH_PINS, ANY_OF_BOTH)
scope("U33", "both-to-any-withdrawn", "withdraws allows anyPin in place of leafAndCA", BOTH_PINS, {**ANY_OF_BOTH, **W}, None)
scope("U33", "both-reported-to-any", "leafAndCA in a reportOnly rule becomes anyPin", {**BOTH_PINS, "enforcement": "reportOnly"},
    ANY_OF_BOTH, None)
scope("U33", "both-to-any-expired", "leafAndCA with an end becomes anyPin with the same end", {**BOTH_PINS, **ending("enforce",
    "systemTrust")},
      {**ANY_OF_BOTH, **ending("enforce", "systemTrust")})
scope("U33", "both-to-no-pins-not-withdrawn", "leafAndCA becomes a rule without pins", BOTH_PINS, bare())
scope("U33", "both-kept", "leafAndCA with other pins", BOTH_PINS, {**BOTH_PINS, "pins": [{"spki": pin(5), "at": "leaf"}, {"spki": pin(6),
    "at": "ca"}]}, None)
scope("U33", "any-to-both", "anyPin becomes leafAndCA", ANY_OF_BOTH, BOTH_PINS, None)
scope("U33", "both-to-no-pins", "leafAndCA becomes a rule without pins, with withdraws", BOTH_PINS, bare(**W), None)
scope("U33", "other-pins", "other pins are no loosening", E, rule(n=9), None)

for name, what, old, new, expect in [
        ("same", "the same certificate", anchors(CA), anchors(CA), None),
        ("added", "a certificate is added", anchors(CA), anchors(CA, CB), SCOPE),
        ("other", "another certificate", anchors(CA), anchors(CB), SCOPE),
        ("removed", "a certificate is removed", anchors(CA, CB), anchors(CB), None),
        ("system-added", "the system's anchors are added", anchors(CA), anchors(CA, system=True), SCOPE),
        ("to-system", "the system's anchors in place of a certificate", anchors(CA), {}, SCOPE),
        ("from-system", "a certificate in place of the system's anchors", {}, anchors(CA), SCOPE),
        ("beside-system", "a certificate beside the system's anchors", {}, anchors(CA, system=True), SCOPE),
        ("system-removed", "the system's anchors are removed beside a certificate", anchors(CA, system=True), anchors(CA), None),
        ("certificate-removed", "a certificate is removed beside the system's anchors", anchors(CA, system=True), {}, None),
        ("order", "certificates in another order", anchors(CA, CB), anchors(CB, CA), None),
        ("withdrawn", "withdraws does not add a certificate", anchors(CA), {**anchors(CA, CB), **W}, SCOPE)]:
    scope("U34", name, what, {**E, **old}, {**E, **new}, expect)

NEW = rule("example.net", n=3)
scope("U35", "new-host", "a rule for another host", E, (E, NEW))
scope("U35", "new-host-allowed", "a rule for another host, with anyHost", E, (E, NEW), None, **ANY)
scope("U35", "own-permission", "the update's own anyHost has no effect", E, (E, NEW), top={"updates": {"anyHost": True}},
      bundled_top={"updates": {"anyHost": False}})
scope("U35", "withdraws-is-no-permission", "withdraws is no anyHost", E, (E, {**NEW, **W}))
scope("U35", "subdomains-added", "includeSubdomains is added: the names below have no bundled rule", E, {**E,
    "includeSubdomains": True})
scope("U35", "subdomains-added-allowed", "includeSubdomains is added, with anyHost", E, {**E, "includeSubdomains": True}, None,
    **ANY)
scope("U35", "parent", "a rule for the parent domain", rule("a.example.com"), (rule("a.example.com"), rule(n=3,
    includeSubdomains=True)))
scope("U35", "below", "a rule for a name below a bundled host without includeSubdomains", E, (E, rule("a.example.com", n=3)))
scope("U35", "other-port", "a rule for another port than the bundled one", {**E, "port": 443}, ({**E, "port": 443}, {**E,
    "port": 8443}))
scope("U35", "every-port", "a rule for every port beside the bundled one for a port", {**E, "port": 443}, ({**E, "port": 443},
    rule(n=3)))
scope("U35", "beside-subdomains", "a rule for another host beside a bundled one with includeSubdomains", {**E, "includeSubdomains": True},
      ({**E, "includeSubdomains": True}, NEW))
scope("U35", "no-dot", "a rule for a host that ends in the letters of a bundled one with includeSubdomains",
      {**E, "includeSubdomains": True}, ({**E, "includeSubdomains": True}, rule("evilexample.com", n=3)))
scope("U35", "anchors", "a certificate as anchor of another host, with anyHost", E, (E, {**NEW, **anchors(CA)}), **ANY)
scope("U35", "anchors-beside-system", "a certificate beside the system's as anchor of another host, with anyHost", E,
      (E, {**NEW, **anchors(CA, system=True)}), **ANY)
for unpinned in ("reject", "askUser"):
    for name, what, new in [
            ("anchors", "a certificate as anchor", anchors(CA)),
            ("anchors-beside-system", "a certificate beside the system's as anchor", anchors(CA, system=True)),
            ("anchors-withdrawn", "a certificate as anchor, and withdraws,", {**anchors(CA), **W})]:
        scope("U35", "%s-%s" % (unpinned.lower(), name), "%s of another host, with anyHost and unpinnedHosts %s" % (what, unpinned),
            E, (E, {**NEW, **new}), top={"unpinnedHosts": unpinned}, **ANY)
for unpinned in ("systemTrust", "reject", "askUser"):
    for name, what, new, is_open in [
            ("enforced", "an enforced rule", NEW, False),
        ("rejecting", "pins that end in reject", {**NEW, "expiry": END}, False),
        ("report-only", "a reportOnly rule", {**NEW, "enforcement": "reportOnly"}, True),
        ("ending", "pins that end in systemTrust", {**NEW, "expiry": {**END, "then": "systemTrust"}}, True),
        ("ending-reported", "a reportOnly rule that ends in reject", {**NEW, **ending("reportOnly", "reject")}, True),
        ("no-pins", "a rule without pins", bare("example.net"), True),
        ("no-pins-withdrawn", "a rule without pins, with withdraws", bare("example.net", **W), False)]:
        expect = SCOPE if is_open and unpinned != "systemTrust" else None
        scope("U35", "%s-%s" % (unpinned.lower(), name), "%s for another host, with anyHost and unpinnedHosts %s" % (what,
            unpinned),
              E, (E, new), expect, top={"unpinnedHosts": unpinned}, **ANY)

scope("U36", "two-rules", "the second of two rules is loosened", (E, R2), (E, {**R2, "enforcement": "reportOnly"}))
scope("U36", "port", "the rule with a port is loosened", (E, {**E, "port": 8443}), (E, {**E, "port": 8443,
    "enforcement": "reportOnly"}))
scope("U36", "host-in-upper-case", "the host in upper case is the same host", E, rule("EXAMPLE.COM."), None)
scope("U36", "address", "an address in another text is the same host", rule("2001:db8::1"), rule("2001:DB8:0::1", n=3), None)
scope("U36", "exact-rule-and-subdomains", "a rule with includeSubdomains is loosened", {**E, "includeSubdomains": True},
      {**E, "includeSubdomains": True, "enforcement": "reportOnly"})

# Narrowed: the bundled rule covers its sub-domains, and that of the update does not.
SUBS = {"includeSubdomains": True}
WIDE, NARROW = {**E, **SUBS}, E
scope("U38", "narrowed", "sub-domains are left without a rule", WIDE, NARROW)
scope("U38", "narrowed-withdrawn", "sub-domains are left without a rule, with withdraws", WIDE, {**NARROW, **W}, None)
scope("U38", "narrowed-open", "sub-domains of a reportOnly rule are left without a rule", {**WIDE, "enforcement": "reportOnly"},
      {**NARROW, "enforcement": "reportOnly"})
scope("U38", "narrowed-anchors-withdrawn", "sub-domains with own anchors are left to the system's trust, with withdraws", {**WIDE,
    **anchors(CA)},
      {**NARROW, **anchors(CA), **W})
scope("U38", "narrowed-anchors-and-system-withdrawn",
    "sub-domains with the system's and own anchors are left to the system's trust, with withdraws",
      {**WIDE, **anchors(CA, system=True)}, {**NARROW, **anchors(CA, system=True), **W}, None)
scope("U38", "narrowed-anchors-rejected", "sub-domains with own anchors are left to reject", {**WIDE, **anchors(CA)}, {**NARROW,
    **anchors(CA)}, None,
      top={"unpinnedHosts": "reject"})
scope("U38", "narrowed-rejected", "sub-domains are left to reject", WIDE, NARROW, None, top={"unpinnedHosts": "reject"})
scope("U38", "narrowed-terms-rejected", "sub-domains with terms are left to reject", {**WIDE, "minimumPathLength": 3},
      {**NARROW, "minimumPathLength": 3}, None, top={"unpinnedHosts": "reject"})
scope("U38", "narrowed-asked", "sub-domains are left to the user", WIDE, NARROW, top={"unpinnedHosts": "askUser"})
scope("U38", "narrowed-asked-withdrawn", "sub-domains are left to the user, with withdraws", WIDE, {**NARROW, **W},
    top={"unpinnedHosts": "askUser"})
scope("U38", "narrowed-length-withdrawn", "sub-domains with a minimumPathLength are left without a rule, with withdraws", {**WIDE,
    "minimumPathLength": 2},
      {**NARROW, "minimumPathLength": 2, **W})
scope("U38", "narrowed-length-1-withdrawn", "sub-domains with minimumPathLength 1 are left without a rule, with withdraws",
      {**WIDE, "minimumPathLength": 1}, {**NARROW, "minimumPathLength": 1, **W}, None)
scope("U38", "narrowed-issuer-withdrawn", "sub-domains with an issuerKey are left without a rule, with withdraws", {**WIDE,
    "issuerKey": pin(4)},
      {**NARROW, "issuerKey": pin(4), **W})
PARENT, CHILD = {**E, **SUBS}, rule("b.example.com", n=3, **SUBS)
CHILD_NARROW = rule("b.example.com", n=3)
scope("U38", "to-parent", "sub-domains of a rule fall to the rule of the parent domain, without withdraws", (PARENT, CHILD),
    (PARENT, CHILD_NARROW))
scope("U38", "to-parent-rejected", "sub-domains fall to the rule of the parent domain, without withdraws, and others to reject",
    (PARENT, CHILD), (PARENT, CHILD_NARROW), top={"unpinnedHosts": "reject"})
scope("U38", "to-parent-asked-withdrawn", "sub-domains fall to the rule of the parent domain, with withdraws, and others to the user",
    (PARENT, CHILD), (PARENT, {**CHILD_NARROW, **W}), None, top={"unpinnedHosts": "askUser"})
scope("U38", "to-parent-own-anchors-withdrawn", "sub-domains fall to a rule with own anchors, with withdraws",
    ({**PARENT, **anchors(CA)}, CHILD), ({**PARENT, **anchors(CA)}, {**CHILD_NARROW, **W}))
scope("U38", "to-parent-withdrawn", "sub-domains of a rule fall to the rule of the parent domain, with withdraws", (PARENT,
    CHILD), (PARENT, {**CHILD_NARROW, **W}), None)
scope("U38", "to-parent-open", "sub-domains of a reportOnly rule fall to an enforced rule", (PARENT, {**CHILD,
    "enforcement": "reportOnly"}),
      (PARENT, {**CHILD_NARROW, "enforcement": "reportOnly"}), None)
scope("U38", "to-parent-anchors-withdrawn", "sub-domains fall to a rule with wider anchors, with withdraws", (PARENT, {**CHILD,
    **anchors(CA)}),
      (PARENT, {**CHILD_NARROW, **anchors(CA), **W}))
scope("U38", "to-parent-terms-withdrawn", "sub-domains fall to a rule with lower terms, with withdraws", (PARENT, {**CHILD,
    "minimumPathLength": 3}),
      (PARENT, {**CHILD_NARROW, "minimumPathLength": 3, **W}))
scope("U38", "to-parent-same-terms-withdrawn", "sub-domains fall to a rule with the same terms, with withdraws",
      ({**PARENT, "minimumPathLength": 3}, {**CHILD, "minimumPathLength": 3}),
      ({**PARENT, "minimumPathLength": 3}, {**CHILD_NARROW, "minimumPathLength": 3, **W}), None)
scope("U38", "to-looser-parent-withdrawn", "sub-domains fall to a looser rule that the bundled policy has too, with withdraws",
      ({**PARENT, "enforcement": "reportOnly"}, CHILD), ({**PARENT, "enforcement": "reportOnly"}, {**CHILD_NARROW, **W}), None)
scope("U38", "to-new-parent-withdrawn",
    "sub-domains fall to a looser rule that the bundled policy lacks, with withdraws and anyHost",
      CHILD, ({**PARENT, "enforcement": "reportOnly"}, {**CHILD_NARROW, **W}), **ANY)
scope("U38", "to-new-strict-parent-withdrawn",
    "sub-domains fall to a rule that the bundled policy lacks and that is no looser, with withdraws and anyHost",
      CHILD, (PARENT, {**CHILD_NARROW, **W}), None, **ANY)
scope("U38", "to-new-withdrawn-parent",
    "sub-domains fall to a rule that the bundled policy lacks and that withdraws too, with anyHost",
      CHILD, ({**PARENT, "enforcement": "reportOnly", **W}, {**CHILD_NARROW, **W}), None, **ANY)
scope("U38", "to-widened-parent-withdrawn",
    "sub-domains fall to a looser rule that covers no sub-domains in the bundled policy, with withdraws and anyHost",
      (rule(enforcement="reportOnly"), CHILD), ({**PARENT, "enforcement": "reportOnly"}, {**CHILD_NARROW, **W}), **ANY)
scope("U38", "all-below-have-rules", "names below have rules of their own, but not all of them", WIDE, (NARROW,
    rule("a.example.com", n=3)))
scope("U38", "other-port-below", "sub-domains on one port are left without a rule", {**WIDE, "port": 8443}, {**NARROW,
    "port": 8443})
scope("U38", "to-rule-without-port", "sub-domains on one port fall to a rule of the same host for every port, without withdraws",
    ({**WIDE, "port": 8443}, WIDE),
      ({**NARROW, "port": 8443}, WIDE))
scope("U38", "to-rule-without-port-withdrawn",
    "sub-domains on one port fall to a rule of the same host for every port, with withdraws",
      ({**WIDE, "port": 8443}, WIDE), ({**NARROW, "port": 8443, **W}, WIDE), None)
scope("U38", "to-new-rule-without-port", "sub-domains on one port fall to a looser rule of the same host that the bundled policy lacks",
      {**WIDE, "port": 8443}, ({**NARROW, "port": 8443, **W}, {**WIDE, "enforcement": "reportOnly"}), **ANY)
scope("U38", "to-parent-partly-open", "sub-domains of a reportOnly rule that ends in reject fall to an enforced rule",
      (PARENT, {**CHILD, **ending("reportOnly", "reject")}), (PARENT, {**CHILD_NARROW, **ending("reportOnly", "reject")}))
scope("U38", "to-parent-no-pins", "sub-domains of a rule without pins fall to an enforced rule",
      (PARENT, bare("b.example.com", **SUBS)), (PARENT, bare("b.example.com")), None)
scope("U38", "to-parent-other-port", "sub-domains fall to a rule with a port on that port, and to none on others",
      ({**PARENT, "port": 8443}, CHILD), ({**PARENT, "port": 8443}, CHILD_NARROW))
scope("U38", "grandchild", "sub-domains of the middle one of three rules fall to the first",
      (PARENT, CHILD, rule("c.b.example.com", n=4, **SUBS)), (PARENT, {**CHILD_NARROW, **W}, rule("c.b.example.com", n=4, **SUBS)), None)
scope("U38", "to-issuer-parent-withdrawn", "sub-domains with an issuerKey fall to a rule with another issuerKey, with withdraws",
      ({**PARENT, "issuerKey": pin(5)}, {**CHILD, "issuerKey": pin(4)}),
      ({**PARENT, "issuerKey": pin(5)}, {**CHILD_NARROW, "issuerKey": pin(4), **W}), None)
scope("U38", "to-both-parent", "sub-domains of a rule with leafAndCA fall to a bundled rule with anyPin, with withdraws",
      (PARENT, {**BOTH_PINS, "host": "b.example.com", **SUBS}), (PARENT, {**BOTH_PINS, "host": "b.example.com", **W}), None)
scope("U38", "withdraws-of-the-parent", "withdraws of the rule that decides instead is not that of the narrowed rule",
      (PARENT, CHILD), ({**PARENT, **W}, CHILD_NARROW))
LONG = ".".join(["x" * 63, "y" * 63, "z" * 63, "w" * 61])
scope("U38", "too-long-below", "the names below a host of 253 characters would be too long, and are compared", rule(LONG, **SUBS),
    rule(LONG))

scope("U39", "below-strict", "a rule for a name below, no looser", WIDE, (WIDE, rule("a.example.com", n=3)), None)
scope("U39", "below-open", "a reportOnly rule for a name below", WIDE, (WIDE, rule("a.example.com", n=3,
    enforcement="reportOnly")))
scope("U39", "below-withdrawn", "a reportOnly rule for a name below, with withdraws", WIDE, (WIDE, rule("a.example.com", n=3,
    enforcement="reportOnly", **W)), None)
scope("U39", "below-anchors", "a rule for a name below with a certificate as anchor", WIDE, (WIDE, rule("a.example.com", n=3,
    **anchors(CA))))
scope("U39", "below-fewer-anchors", "a rule for a name below with fewer anchors", {**WIDE, **anchors(CA, CB)},
      ({**WIDE, **anchors(CA, CB)}, rule("a.example.com", n=3, **anchors(CB))), None)
scope("U39", "below-no-pins", "a rule without pins for a name below", WIDE, (WIDE, bare("a.example.com")))
scope("U39", "below-lower-terms", "a rule for a name below without the terms, with withdraws", {**WIDE, "minimumPathLength": 3},
      ({**WIDE, "minimumPathLength": 3}, rule("a.example.com", n=3, **W)))
scope("U39", "compared-with-the-longest", "a rule for a name below is compared with the longest bundled host, not with a looser parent",
      ({**PARENT, "enforcement": "reportOnly"}, CHILD),
      ({**PARENT, "enforcement": "reportOnly"}, CHILD, rule("a.b.example.com", n=4, enforcement="reportOnly")))
scope("U39", "compared-with-a-loose-parent", "a rule for a name below is compared with the rule that decides, which is loose",
      ({**PARENT, "enforcement": "reportOnly"}, CHILD),
      ({**PARENT, "enforcement": "reportOnly"}, CHILD, rule("a.example.com", n=4, enforcement="reportOnly")), None)
scope("U39", "port-of-a-parent", "a rule with a port for the parent domain decides before the bundled rule of the host", rule("a.example.com"),
      (rule("a.example.com"), {**PARENT, "port": 8443, "enforcement": "reportOnly"}), **ANY)
scope("U39", "strict-port-of-a-parent", "an enforced rule with a port for the parent domain decides before the bundled rule of the host",
      rule("a.example.com"), (rule("a.example.com"), {**PARENT, "port": 8443}), None, **ANY)
scope("U39", "strict-port-of-a-parent-below",
    "an enforced rule with a port for the parent domain decides before the bundled rule with includeSubdomains",
      rule("a.example.com", **SUBS), (rule("a.example.com", **SUBS), {**PARENT, "port": 8443}), None, **ANY)
scope("U39", "narrowed-to-reject-and-below", "sub-domains are left to reject, but for a strict rule for a name below", WIDE, (NARROW,
    rule("a.example.com", n=3, **SUBS)), None, top={"unpinnedHosts": "reject"})
scope("U39", "narrowed-to-reject-and-open-below", "sub-domains are left to reject, but for a reportOnly rule for a name below", WIDE,
    (NARROW, rule("a.example.com", n=3, enforcement="reportOnly")), top={"unpinnedHosts": "reject"})
scope("U39", "any-for-both-below", "anyPin for a name below a rule with leafAndCA", {**BOTH_PINS, **SUBS},
      ({**BOTH_PINS, **SUBS}, rule("a.example.com", n=4)))
scope("U39", "port", "a stricter rule for one port", E, (E, {**E, "port": 8443}), None)
scope("U39", "port-open", "a reportOnly rule for one port", E, (E, {**E, "port": 8443, "enforcement": "reportOnly"}))
scope("U39", "narrowed-and-below", "a narrowed rule with withdraws, and a reportOnly rule below it without", WIDE,
      ({**NARROW, **W}, rule("a.example.com", n=3, enforcement="reportOnly", **SUBS)))
scope("U39", "narrowed-and-below-strict", "a narrowed rule with withdraws, and a strict rule below it", WIDE, ({**NARROW, **W},
    rule("a.example.com", n=3, **SUBS)), None)
scope("U39", "port-with-subdomains", "a rule for one port with includeSubdomains decides before the exact rule without one",
    (WIDE, rule("a.example.com", n=3)),
      ({**WIDE}, rule("a.example.com", n=3), {**WIDE, "port": 8443, "enforcement": "reportOnly"}))

for name, what, changed_rule in [
        ("no-backup-pin", "a rule without backup pins", bare(pins=[pin(1)])),
        ("duplicate-pin", "a pin twice", bare(pins=[pin(1), pin(1)], backupPins=[pin(2)])),
        ("report-host-covered", "a report host that the policy pins", None),
        ("pin-without-position", "leafAndCA with a pin without position", {**E, "requires": "leafAndCA"}),
        ("multicast", "a multicast address", None)]:
    if name == "report-host-covered":
        scope("U40", name, what, (E, {**R2, "reportTo": [URL]}), (E, {**R2, "reportTo": [URL]}, rule("reports.example.net", n=4)),
            POLICY, **ANY)
    elif name == "multicast":
        scope("U40", name, what, E, (E, rule("224.0.0.1", n=4)), POLICY, **ANY)
    else:
        scope("U40", name, what, E, changed_rule, POLICY)
scope("U40", "anchors-too-broad", "anchors for the names below a host of one label: the scope is checked first", E,
    (E, rule("internal", n=4, **SUBS, **anchors(CA))), **ANY)
scope("U40", "rule-twice", "a rule twice", E, (E, E), POLICY)
scope("U40", "first-of-two-counts", "two rules for one host, the first one loosened", E, ({**E, "enforcement": "reportOnly"}, E))
scope("U40", "second-of-two-does-not", "two rules for one host, the second one loosened", E, (E, {**E,
    "enforcement": "reportOnly"}), POLICY)
scope("U41", "host-removed", "the rule of a bundled host is missing", (E, R2), E, POLICY)
scope("U41", "all-removed", "no rules", E, (), POLICY)
scope("U41", "parent-instead", "a rule for the parent domain in place of the bundled one", rule("a.example.com"), WIDE, POLICY,
    **ANY)
scope("U41", "bundled-parent-instead", "a bundled rule for the parent domain is left", (WIDE, rule("a.example.com", n=3)), WIDE,
    POLICY)
scope("U41", "every-port-instead", "a rule for every port in place of the one with a port", ({**E, "port": 8443}, E), E, POLICY)
scope("U41", "port-instead", "a rule with a port in place of the one for every port", E, {**E, "port": 443}, POLICY)
scope("U41", "removed-and-other", "a bundled host is missing, and another host is there", (E, R2), (E, NEW))
scope("U41", "removed-withdrawn", "withdraws of another rule does not replace a missing one", (E, R2), {**E, **W}, POLICY)
