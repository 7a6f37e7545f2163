-- Reports by day, host and reason.
SELECT toDate(failed_at) AS day, hostname, reason, count() AS reports
FROM pins.pin_reports WHERE failed_at > now() - INTERVAL 30 DAY
GROUP BY day, hostname, reason ORDER BY day DESC, reports DESC;

-- One certificate in many reports means that you rotated a key without updating the pins: check the server first.
-- Many certificates with few reports each are interceptors: company proxies, portals, attacks.
SELECT hostname, hex(MD5(served_leaf)) AS leaf, count() AS reports, min(failed_at) AS first, max(failed_at) AS last
FROM pins.pin_reports WHERE reason IN ('pin-mismatch', 'mismatch-reported-only')
GROUP BY hostname, leaf ORDER BY reports DESC LIMIT 50;

-- Versions of the app whose pins have expired.
SELECT app_version, policy_version, noted_hostname, count() AS reports, max(failed_at) AS last
FROM pins.pin_reports WHERE reason = 'pins-expired'
GROUP BY app_version, policy_version, noted_hostname ORDER BY reports DESC;

-- Is it safe to enforce? A rule that only reports should have no reports for two weeks, except from interceptors.
SELECT noted_hostname, count() AS reports, uniqExact(served_leaf) AS leaves, max(failed_at) AS last
FROM pins.pin_reports WHERE reason = 'mismatch-reported-only' AND failed_at > now() - INTERVAL 14 DAY
GROUP BY noted_hostname;

-- Path failures by cause and host.
SELECT path_failure, hostname, count() AS reports
FROM pins.pin_reports WHERE reason = 'invalid-path' AND failed_at > now() - INTERVAL 7 DAY
GROUP BY path_failure, hostname ORDER BY reports DESC;

-- Alarm: more than ten reports in the last hour, and ten times the host's usual number.
SELECT hostname, countIf(failed_at > now() - INTERVAL 1 HOUR) AS hour, count() / 168 AS usual
FROM pins.pin_reports WHERE failed_at > now() - INTERVAL 7 DAY
GROUP BY hostname HAVING hour > 10 AND hour > 10 * usual;
