"""The reports that the engines are tested with, as (id, hours ago, attributes, report) of OTLP log records."""
import datetime
import json

# The interceptor's leaf is the last of these.
LEAVES = [f"-----BEGIN CERTIFICATE-----\n{name}\n-----END CERTIFICATE-----\n" for name in ("rotated", "proxy")]


def report(number, hours, reason, leaf=0, host="api.example.com", version="3.1", enforcement="enforce", failure=None):
    when = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(hours=hours)
    body = {
        "date-time": when.strftime("%Y-%m-%dT%H:%M:%SZ"), "hostname": host, "port": 443,
        "effective-expiration-date": None, "include-subdomains": True, "noted-hostname": "example.com",
        "served-certificate-chain": [LEAVES[leaf]], "validated-certificate-chain": [], "known-pins": [], "reason": reason,
        "enforcement": enforcement, "policy-version": 7, "app": {"name": "Shop", "version": version}}
    if failure:
        body["path-failure"] = failure
    attributes = {
        "log.record.uid": f"{number:032x}", "server.address": host, "server.port": "443", "pintle.decision": "rejected",
        "pintle.reason": reason, "pintle.enforcement": enforcement, "pintle.noted_hostname": "example.com",
        "pintle.policy_version": "7"}
    if failure:
        attributes["pintle.path_failure"] = failure
    return when, attributes, json.dumps(body)


REPORTS = (
    # A key was rotated: twelve apps meet the same certificate within the hour.
    [report(number, 0.2, "pin-mismatch") for number in range(12)]
    # An interceptor, met once, and its report sent again because the answer was lost.
    + [report(20, 30, "pin-mismatch", leaf=1)] * 2
    + [report(30, 50, "pins-expired", version="2.0"), report(31, 51, "pins-expired", version="2.0")]
    + [report(40, 70, "mismatch-reported-only", leaf=1, enforcement="report-only")]
    + [report(50, 20, "invalid-path", host="old.example.com", failure="expired")])
