-- Outcomes by day, with a bar of the trusted share.
SELECT day, count() AS servers, countIf(outcome = 'trusted') AS trusted, countIf(outcome = 'rejected') AS rejected,
    countIf(outcome = 'unreached') AS unreached, bar(trusted / servers, 0, 1, 40) AS chart
FROM pins.audit_days GROUP BY day ORDER BY day;

-- Servers whose verdict changed since the audit before.
SELECT new.host AS host, new.port AS port, old.outcome AS before, old.reason AS why_before, new.outcome AS now, new.reason AS why
FROM pins.audit_days AS new
INNER JOIN pins.audit_days AS old ON (new.host, new.port, new.connectTo) = (old.host, old.port, old.connectTo)
WHERE new.day = (SELECT max(day) FROM pins.audit_days)
    AND old.day = (SELECT max(day) FROM pins.audit_days WHERE day < (SELECT max(day) FROM pins.audit_days))
    AND (old.outcome, old.reason) != (new.outcome, new.reason)
ORDER BY host, port;

-- Servers that were asked in the audit before and not in the newest one.
SELECT host, port FROM pins.audit_days
WHERE day = (SELECT max(day) FROM pins.audit_days WHERE day < (SELECT max(day) FROM pins.audit_days))
    AND (host, port, connectTo) NOT IN (
        SELECT host, port, connectTo FROM pins.audit_days WHERE day = (SELECT max(day) FROM pins.audit_days))
ORDER BY host, port;

-- Reasons of the newest audit, with a bar of their share.
SELECT outcome, reason, count() AS servers, bar(servers, 0, sum(servers) OVER (), 40) AS chart
FROM pins.audit_days WHERE day = (SELECT max(day) FROM pins.audit_days)
GROUP BY outcome, reason ORDER BY servers DESC, reason;

-- Certificates that end, by week, in the newest audit.
SELECT toMonday(certificateEnds) AS week, count() AS servers, bar(servers, 0, max(servers) OVER (), 40) AS chart
FROM pins.audit_days WHERE day = (SELECT max(day) FROM pins.audit_days) AND certificateEnds IS NOT NULL
GROUP BY week ORDER BY week LIMIT 52;

-- Servers by the group of the key exchange, by day.
SELECT day, keyExchangeGroup, count() AS servers FROM pins.audit_days
WHERE outcome != 'unreached' GROUP BY day, keyExchangeGroup ORDER BY day, servers DESC;
