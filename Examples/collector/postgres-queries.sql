-- Reports by day, host and reason.
SELECT failed_at::date AS day, hostname, reason, count(*) AS reports
FROM pin_failures WHERE failed_at > now() - interval '30 days'
GROUP BY 1, 2, 3 ORDER BY 1 DESC, 4 DESC;

-- One certificate in many reports means that you rotated a key without updating the pins: check the server first.
-- Many certificates with few reports each are interceptors: company proxies, portals, attacks.
SELECT hostname, md5(served_leaf) AS leaf, count(*) AS reports, min(failed_at) AS first, max(failed_at) AS last
FROM pin_failures WHERE reason IN ('pin-mismatch', 'mismatch-reported-only')
GROUP BY 1, 2 ORDER BY 3 DESC LIMIT 50;

-- Versions of the app whose pins have expired.
SELECT app_version, policy_version, noted_hostname, count(*) AS reports, max(failed_at) AS last
FROM pin_failures WHERE reason = 'pins-expired'
GROUP BY 1, 2, 3 ORDER BY 4 DESC;

-- Is it safe to enforce? A rule that only reports should have no reports for two weeks, except from interceptors.
SELECT noted_hostname, count(*) AS reports, count(DISTINCT served_leaf) AS leaves, max(failed_at) AS last
FROM pin_failures WHERE reason = 'mismatch-reported-only' AND failed_at > now() - interval '14 days'
GROUP BY 1;

-- Path failures by cause and host.
SELECT path_failure, hostname, count(*) AS reports
FROM pin_failures WHERE reason = 'invalid-path' AND failed_at > now() - interval '7 days'
GROUP BY 1, 2 ORDER BY 3 DESC;

-- Alarm: more than ten reports in the last hour, and ten times the host's usual number.
SELECT hostname, count(*) FILTER (WHERE failed_at > now() - interval '1 hour') AS hour, count(*) / 168.0 AS usual
FROM pin_failures WHERE failed_at > now() - interval '7 days'
GROUP BY 1
HAVING count(*) FILTER (WHERE failed_at > now() - interval '1 hour') > greatest(10, 10 * count(*) / 168.0);
