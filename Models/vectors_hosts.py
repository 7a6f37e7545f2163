"""The vectors of hosts (policy.md, P6 and P7; decision.md, D1) and of the rule that decides (D8 and D9)."""
VECTORS = []


def host(rule, name, what, host, canonical, is_address=False, is_alias=False):
    number = int(rule[1:])
    VECTORS.append(("hosts/%s%02d-%s" % (rule[0].lower(), number, name), {
        "rule": rule, "what": what, "host": host,
        "expect": {"answer": "no-host"} if canonical is None else {"answer": "host", "canonical": canonical,
            "isAddress": is_address, "isAlias": is_alias}}))


L63 = "x" * 63
L253 = ".".join([L63, L63, L63, "x" * 61])
for name, what, text in [
        ("name", "a name", "www.example.com"),
        ("one-label", "one label", "localhost"),
        ("digits", "digits in a label", "1.2.3.example"),
        ("underscore", "an underscore", "_dmarc.example.com"),
        ("underscore-only", "only an underscore", "_"),
        ("0x-in-first", "0x as another label", "0x.example"),
        ("underscore-last", "an underscore in the last label", "a._b"),
        ("hyphens", "hyphens inside", "a--b.c-d.example"),
        ("punycode", "an international name as DNS has it", "xn--bcher-kva.example"),
        ("63", "a label of 63 characters", L63 + ".example"),
        ("253", "253 characters", L253),
        ("digit-first", "a last label that begins with a digit", "a.1b"),
        ("e-notation", "a last label that looks like a number", "a.1e3"),
        ("hexadecimal-letters", "a last label of hexadecimal letters", "a.beef"),
        ("0x-and-letter", "a last label with 0x and another letter", "a.0xg"),
        ("0x-inside", "0x in another label", "0x7f.example"),
        ("one-character", "one character", "a")]:
    host("P6", "good-" + name, what, text, text)
host("P6", "trailing-dot", "a dot at the end", "example.com.", "example.com")
host("P6", "253-and-dot", "253 characters and a dot", L253 + ".", L253)
for name, what, text in [
        ("empty", "no character", ""),
        ("dot", "only a dot", "."),
        ("two-dots", "two dots", "a..example"),
        ("two-dots-last", "two dots at the end", "a.example.."),
        ("dot-first", "a dot at the beginning", ".example.com"),
        ("64", "a label of 64 characters", "x" * 64 + ".example"),
        ("254", "254 characters", ".".join([L63, L63, L63, "x" * 62])),
        ("hyphen-first", "a hyphen at the beginning", "-a.example"),
        ("hyphen-last", "a hyphen at the end of a label", "a-.example"),
        ("hyphen-last-label", "a hyphen at the end", "a.example-"),
        ("wildcard", "a wildcard", "*.example.com"),
        ("star", "a star", "*"),
        ("blank", "a blank", "a b.example"),
        ("blank-before", "a blank at the beginning", " example.com"),
        ("line-feed", "a line feed at the end", "example.com\n"),
        ("port", "a port", "example.com:443"),
        ("url", "an address of the web", "https://example.com"),
        ("slash", "a slash", "example.com/"),
        ("user", "a user name", "a@example.com"),
        ("international", "a letter that is no ASCII", "b\u00fccher.example"),
        ("full-width-dot", "an ideographic full stop", "example\u3002com"),
        ("kelvin", "the Kelvin sign, which is k in lower case", "\u212aey.example"),
        ("zero", "a zero character", "example\0.com"),
        ("percent", "a percent sign", "example%2ecom"),
        ("last-digits", "a last label of digits", "example.123"),
        ("last-hexadecimal-upper", "a last label of 0X and hexadecimal digits", "example.0X7F"),
        ("last-0x", "a last label of 0x", "example.0x"),
        ("0x", "only 0x", "0x"),
        ("hyphen", "only a hyphen", "-"),
        ("ipv4-in-ipv6-dot", "an IPv4 address and a dot at the end of an IPv6 address", "::ffff:192.0.2.1."),
        ("last-digit", "a last label of one digit", "example.1"),
        ("last-hexadecimal", "a last label of 0x and hexadecimal digits", "example.0x7f"),
        ("last-hexadecimal-letters", "a last label of 0x and hexadecimal letters", "example.0xbeef"),
        ("digits", "only digits", "2130706433"),
        ("hexadecimal", "only 0x and hexadecimal digits", "0x7f000001"),
        ("digits-and-dot", "a last label of digits and a dot", "example.123."),
        ("three-numbers", "three numbers", "192.0.2"),
        ("five-numbers", "five numbers", "192.0.2.1.1"),
        ("256", "a number above 255", "256.0.2.1"),
        ("leading-zero", "a number with a leading zero", "192.0.02.1"),
        ("zeros", "a number of two zeros", "192.0.00.1"),
        ("octal", "an octal number", "0177.0.0.1"),
        ("four-digits", "a number of four digits", "192.0.2.0001"),
        ("empty-number", "an empty number", "192..2.1"),
        ("ipv4-dot", "an IPv4 address and a dot", "192.0.2.1."),
        ("ipv4-brackets", "an IPv4 address in brackets", "[192.0.2.1]"),
        ("ipv4-blank", "a blank behind an IPv4 address", "192.0.2.1 "),
        ("ipv4-plus", "a number with a sign", "+192.0.2.1"),
        ("ipv4-other-digits", "an Arabic digit", "192.0.2.\u0661"),
        ("name-brackets", "a name in brackets", "[example.com]"),
        ("empty-brackets", "empty brackets", "[]"),
        ("one-bracket", "one bracket", "[::1"),
        ("other-bracket", "the other bracket", "::1]"),
        ("other-bracket-behind-two", "the other bracket behind an address that stays one without it", "1::1]"),
        ("two-brackets", "two pairs of brackets", "[[::1]]"),
        ("zone", "a zone", "fe80::1%eth0"),
        ("zone-brackets", "a zone in brackets", "[fe80::1%25eth0]"),
        ("five-hexadecimal", "a group of five digits", "2001:db8::00001"),
        ("not-hexadecimal", "a letter that is no hexadecimal digit", "2001:db8::g"),
        ("two-gaps", "two gaps", "2001::db8::1"),
        ("three-colons", "three colons", "2001:::1"),
        ("seven-groups", "seven groups", "1:2:3:4:5:6:7"),
        ("nine-groups", "nine groups", "1:2:3:4:5:6:7:8:9"),
        ("gap-of-none", "a gap that stands for no group", "1:2:3:4::5:6:7:8"),
        ("gap-behind-eight", "eight groups and a gap", "1:2:3:4:5:6:7:8::"),
        ("gap-before-eight", "a gap and eight groups", "::1:2:3:4:5:6:7:8"),
        ("colon-last", "a colon at the end", "1:2:3:4:5:6:7:"),
        ("colon-first", "a colon at the beginning", ":1:2:3:4:5:6:7"),
        ("ipv4-inside", "an IPv4 address that is not last", "::192.0.2.1:1"),
        ("ipv4-too-late", "an IPv4 address behind seven groups", "1:2:3:4:5:6:7:192.0.2.1"),
        ("ipv4-short-in-ipv6", "three numbers at the end", "::192.0.2"),
        ("ipv4-zero-in-ipv6", "a leading zero at the end", "::192.0.2.01"),
        ("ipv6-dot", "an IPv6 address and a dot", "::1."),
        ("prefix", "a length of a prefix", "2001:db8::/32"),
        ("colon", "only a colon", ":"),
        ("ipv6-blank", "a blank before an IPv6 address", " ::1")]:
    host("P6", "no-host-" + name, what, text, None)
host("P7", "case", "upper case", "WWW.Example.COM", "www.example.com")
host("P7", "case-punycode", "upper case in an international name", "XN--BCHER-KVA.example", "xn--bcher-kva.example")
for name, text, canonical in [
        ("ipv4", "192.0.2.1", "192.0.2.1"),
        ("ipv4-last", "255.255.255.255", "255.255.255.255"),
        ("ipv6-brackets", "[2001:db8::1]", "2001:db8::1"),
        ("ipv6-case", "2001:DB8::ABCD", "2001:db8::abcd"),
        ("ipv6-leading-zeros", "2001:0db8:0000::0001", "2001:db8::1"),
        ("ipv6-full", "2001:db8:0:0:0:0:0:1", "2001:db8::1"),
        ("ipv6-no-gap", "1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8"),
        ("ipv6-one-zero", "1:0:3:4:5:6:7:8", "1:0:3:4:5:6:7:8"),
        ("ipv6-gap-of-one", "1::3:4:5:6:7:8", "1:0:3:4:5:6:7:8"),
        ("ipv6-gap-of-one-last", "1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"),
        ("ipv6-gap-of-one-first", "::2:3:4:5:6:7:8", "0:2:3:4:5:6:7:8"),
        ("ipv6-longer-gap", "1:0:0:4:0:0:0:8", "1:0:0:4::8"),
        ("ipv6-first-gap", "1:0:0:4:5:0:0:8", "1::4:5:0:0:8"),
        ("ipv6-gap-first", "0:0:3:4:5:6:7:8", "::3:4:5:6:7:8"),
        ("ipv6-gap-last", "1:2:3:4:5:6:0:0", "1:2:3:4:5:6::"),
        ("ipv6-moved-gap", "1:0:0:4::8", "1:0:0:4::8"),
        ("ipv6-loopback", "0:0:0:0:0:0:0:1", "::1"),
        ("ipv6-ipv4-last", "64:ff9b::192.0.2.33", "64:ff9b::c000:221"),
        ("ipv6-ipv4-compatible", "::192.0.2.1", "::c000:201"),
        ("ipv6-ipv4-translated", "::ffff:0:192.0.2.1", "::ffff:0:c000:201"),
        ("ipv6-mapped-other-place", "::1:ffff:192.0.2.1", "::1:ffff:c000:201")]:
    host("P7", name, "the address " + text, text, canonical, True)
for name, text, canonical, is_alias in [
        ("0000", "0.0.0.0", "0.0.0.0", True),
        ("0001", "0.0.0.1", "0.0.0.1", False),
        ("unspecified", "::", "::", True),
        ("unspecified-full", "0:0:0:0:0:0:0:0", "::", True),
        ("loopback", "::1", "::1", False),
        ("loopback-ipv4", "127.0.0.1", "127.0.0.1", False),
        ("mapped", "::ffff:192.0.2.1", "::ffff:192.0.2.1", True),
        ("mapped-hexadecimal", "::FFFF:C000:201", "::ffff:192.0.2.1", True),
        ("mapped-full", "[0:0:0:0:0:ffff:c000:0201]", "::ffff:192.0.2.1", True),
        ("mapped-zero", "::ffff:0:0", "::ffff:0.0.0.0", True),
        ("mapped-last", "::ffff:ffff:ffff", "::ffff:255.255.255.255", True),
        ("before-mapped", "::fffe:ffff:ffff", "::fffe:ffff:ffff", False),
        ("behind-mapped", "::1:0:0:0", "::1:0:0:0", False),
        ("compatible", "::0.0.0.2", "::2", False)]:
    host("D1", name, "whether %s is an alias" % text, text, canonical, True, is_alias)


def decides(rule, name, what, rules, host, port, expect):
    """`rules` are texts: "*." for sub-domains too, then the host, then a port. `expect` is the place of one, or none."""
    read = []
    for text in rules:
        wide, text = text.startswith("*."), text.removeprefix("*.")
        name_of_rule, _, number = text.partition("#")
        read.append({"host": name_of_rule, "port": int(number) if number else None, "includeSubdomains": wide})
    VECTORS.append(("patterns/d%02d-%s" % (int(rule[1:]), name), {
        "rule": rule, "what": what, "rules": read, "endpoint": {"host": host, "port": port},
            "expect": {"answer": "none"} if expect is None else {"answer": "rule", "index": expect}}))


for name, what, rules, at, port, expect in [
        ("none", "no rules", [], "example.com", 443, None),
        ("exact", "the host itself", ["example.com"], "example.com", 443, 0),
        ("other", "another host", ["example.com"], "example.net", 443, None),
        ("below-exact", "a name below, without sub-domains", ["example.com"], "a.example.com", 443, None),
        ("below", "a name below, with sub-domains", ["*.example.com"], "a.example.com", 443, 0),
        ("deep", "a name far below, with sub-domains", ["*.example.com"], "a.b.c.d.example.com", 443, 0),
        ("apex", "the host itself, with sub-domains", ["*.example.com"], "example.com", 443, 0),
        ("above", "a parent domain", ["*.a.example.com"], "example.com", 443, None),
        ("no-dot", "a name that ends in the same letters", ["*.example.com"], "evilexample.com", 443, None),
        ("suffix-twice", "the host in front of another domain", ["*.example.com"], "example.com.attacker.example", 443, None),
        ("hyphen", "a hyphen in place of the dot", ["*.example.com"], "a-example.com", 443, None),
        ("case-of-rule", "a rule in upper case", ["*.EXAMPLE.com"], "a.example.com", 443, 0),
        ("case-of-endpoint", "an endpoint in upper case and with a dot", ["example.com"], "EXAMPLE.COM.", 443, 0),
        ("one-label", "names below one label", ["*.com"], "a.example.com", 443, 0),
        ("port", "the port of the rule", ["example.com#8443"], "example.com", 8443, 0),
        ("other-port", "another port than that of the rule", ["example.com#8443"], "example.com", 443, None),
        ("every-port", "a rule without a port", ["example.com"], "example.com", 8443, 0),
        ("highest-port", "port 65535", ["example.com#65535"], "example.com", 65535, 0),
        ("port-0", "port 0 with a rule for every port", ["example.com"], "example.com", 0, 0),
        ("below-port", "a name below, on the port of the rule", ["*.example.com#8443"], "a.example.com", 8443, 0),
        ("below-other-port", "a name below, on another port", ["*.example.com#8443"], "a.example.com", 443, None),
        ("ipv4", "an IPv4 address", ["192.0.2.1"], "192.0.2.1", 443, 0),
        ("ipv4-other", "another IPv4 address", ["192.0.2.1"], "192.0.2.10", 443, None),
        ("ipv6", "an IPv6 address in another text", ["2001:DB8:0::1"], "[2001:db8::1]", 443, 0),
        ("ipv6-other", "another IPv6 address", ["2001:db8::1"], "2001:db8::2", 443, None),
        ("mapped", "an alias of an address that a rule has", ["192.0.2.1"], "::ffff:192.0.2.1", 443, None)]:
    decides("D8", name, what, rules, at, port, expect)
THREE = ["*.example.com", "*.b.example.com", "*.a.b.example.com"]
for name, what, rules, at, port, expect in [
        ("exact-before-parent", "the host itself before a parent", ["*.example.com", "a.example.com"], "a.example.com", 443, 1),
        ("exact-before-parent-turned", "the host itself before a parent, in the other order", ["a.example.com", "*.example.com"],
            "a.example.com", 443, 0),
        ("below-exact", "a name below the exact rule falls to the parent", ["*.example.com", "a.example.com"], "b.a.example.com",
            443, 0),
        ("longest", "the longest host", THREE, "x.a.b.example.com", 443, 2),
        ("longest-turned", "the longest host, in the other order", THREE[::-1], "x.a.b.example.com", 443, 0),
        ("middle", "the middle host", THREE, "x.b.example.com", 443, 1),
        ("middle-itself", "the middle host itself", THREE, "b.example.com", 443, 1),
        ("shortest", "the shortest host", THREE, "x.example.com", 443, 0),
        ("port-first", "a rule with a port before one without", ["example.com", "example.com#8443"], "example.com", 8443, 1),
        ("port-other", "the rule without a port on other ports", ["example.com", "example.com#8443"], "example.com", 443, 0),
        ("port-before-exact", "a parent with a port before the host itself", ["a.example.com", "*.example.com#8443"],
            "a.example.com", 8443, 1),
        ("exact-on-other-port", "the host itself where the parent's port differs", ["a.example.com", "*.example.com#8443"],
            "a.example.com", 443, 0),
        ("port-before-longer", "a short host with a port before a longer one", ["*.a.example.com", "*.example.com#8443"],
            "x.a.example.com", 8443, 1),
        ("longest-with-port", "the longest host of two with a port", ["*.example.com#8443", "*.a.example.com#8443",
            "*.a.example.com"], "x.a.example.com", 8443, 1),
        ("exact-with-port", "the host itself of two with a port", ["*.example.com#8443", "a.example.com#8443"], "a.example.com",
            8443, 1),
        ("narrow-host-does-not-count", "a longer host without sub-domains does not cover", ["*.example.com", "b.example.com"],
            "a.b.example.com", 443, 0),
        ("table-1", "a table's row of P19", ["*.example.com", "*.b.example.com"], "a.b.example.com", 443, 1),
        ("longest-exact-with-port-elsewhere", "a rule with another port does not cover", ["*.example.com", "a.example.com#8443"],
            "a.example.com", 443, 0)]:
    decides("D9", name, what, rules, at, port, expect)
