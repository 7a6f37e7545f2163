-- Outcomes of each audit, with a bar of the trusted share. More than one basis: the policy or the anchors changed during the audit.
SELECT started, audit, count() AS servers, countIf(outcome = 'trusted') AS trusted, countIf(outcome = 'rejected') AS rejected,
    countIf(outcome = 'unreached') AS unreached, uniqExact(basis) AS bases, bar(trusted / servers, 0, 1, 40) AS chart
FROM audit_servers INNER JOIN audit_ages USING (audit)
GROUP BY started, audit ORDER BY started;

-- Servers whose verdict changed since the audit before.
SELECT new.host AS host, new.port AS port, old.outcome AS before, old.reason AS why_before, new.outcome AS now, new.reason AS why,
    old.basis != new.basis AS other_policy
FROM audit_servers AS new
INNER JOIN audit_servers AS old ON (new.host, new.port, new.connectTo) = (old.host, old.port, old.connectTo)
WHERE new.audit = (SELECT audit FROM audit_ages WHERE age = 0) AND old.audit = (SELECT audit FROM audit_ages WHERE age = 1)
    AND (old.outcome, old.reason) != (new.outcome, new.reason)
ORDER BY host, port;

-- Servers that were asked in the audit before and not in the newest one.
SELECT host, port FROM audit_servers
WHERE audit = (SELECT audit FROM audit_ages WHERE age = 1)
    AND (host, port, connectTo) NOT IN (
        SELECT host, port, connectTo FROM audit_servers WHERE audit = (SELECT audit FROM audit_ages WHERE age = 0))
ORDER BY host, port;

-- Reasons of the newest audit, with a bar of their share.
SELECT outcome, reason, count() AS servers, bar(servers, 0, sum(servers) OVER (), 40) AS chart
FROM audit_servers WHERE audit = (SELECT audit FROM audit_ages WHERE age = 0)
GROUP BY outcome, reason ORDER BY servers DESC, reason;

-- Certificates that end, by week, in the newest audit.
SELECT toMonday(certificateEnds) AS week, count() AS servers, bar(servers, 0, max(servers) OVER (), 40) AS chart
FROM audit_servers WHERE audit = (SELECT audit FROM audit_ages WHERE age = 0) AND certificateEnds IS NOT NULL
GROUP BY week ORDER BY week LIMIT 52;

-- Servers by the group of the key exchange, in each audit.
SELECT started, audit, keyExchangeGroup, count() AS servers
FROM audit_servers INNER JOIN audit_ages USING (audit)
WHERE outcome != 'unreached' GROUP BY started, audit, keyExchangeGroup ORDER BY started, servers DESC;
