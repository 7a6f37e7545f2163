-- Which key served when: each key of a leaf, from the first to the last result that saw it without another one in between.
WITH keys AS (
    SELECT server, at, spkiPin,
        row_number() OVER (PARTITION BY server ORDER BY at)
            - row_number() OVER (PARTITION BY server, spkiPin ORDER BY at) AS run
    FROM paths WHERE position = 'leaf')
SELECT server, spkiPin, min(at) AS first_seen, max(at) AS last_seen, count(*) AS results
FROM keys GROUP BY server, spkiPin, run ORDER BY server, first_seen;

-- Which pin stopped matching: it decided a result, and the newest path of the server does not have it.
WITH newest AS (SELECT server, max(at) AS at FROM paths GROUP BY server),
    matched AS (
        SELECT server, matchedPin, max(at) AS last_matched
        FROM results WHERE reason = 'pin-matched' GROUP BY server, matchedPin)
SELECT server, matchedPin, last_matched,
    (SELECT min(at) FROM paths WHERE paths.server = matched.server AND at > last_matched) AS missing_since,
    (SELECT reason FROM results WHERE results.server = newest.server AND results.at = newest.at) AS newest_reason
FROM matched JOIN newest USING (server)
WHERE NOT EXISTS (
    SELECT * FROM paths
    WHERE paths.server = newest.server AND paths.at = newest.at AND matchedPin IN (spkiPin, certificateSHA256))
ORDER BY server, last_matched;
