-- The same two queries for ClickHouse. To load results: clickhouse-client --query "INSERT INTO lines FORMAT LineAsString"
CREATE TABLE IF NOT EXISTS lines (line String) ENGINE = MergeTree ORDER BY tuple();

CREATE VIEW IF NOT EXISTS results AS
SELECT DISTINCT
    concat(
        JSONExtractString(line, 'host'), ':', toString(JSONExtractUInt(line, 'port')),
        if(JSONHas(line, 'connectTo'), concat(' at ', JSONExtractString(line, 'connectTo')), '')) AS server,
    JSONExtractString(line, 'at') AS at,
    if(JSONHas(line, 'reason'), JSONExtractString(line, 'reason'), JSONExtractString(line, 'error', 'code')) AS reason,
    JSONExtractString(line, 'matchedPin') AS matchedPin,
    JSONExtractArrayRaw(line, 'certificates') AS certificates
FROM lines WHERE isValidJSON(line);

CREATE VIEW IF NOT EXISTS paths AS
SELECT server, at, JSONExtractString(certificate, 'position') AS position, JSONExtractString(certificate, 'spkiPin') AS spkiPin,
    JSONExtractString(certificate, 'certificateSHA256') AS certificateSHA256
FROM results ARRAY JOIN certificates AS certificate
WHERE JSONExtractBool(certificate, 'onPath');

-- Which key served when.
WITH keys AS (
    SELECT server, at, spkiPin,
        toInt64(row_number() OVER (PARTITION BY server ORDER BY at))
            - toInt64(row_number() OVER (PARTITION BY server, spkiPin ORDER BY at)) AS run
    FROM paths WHERE position = 'leaf')
SELECT server, spkiPin, min(at) AS first_seen, max(at) AS last_seen, count() AS results
FROM keys GROUP BY server, spkiPin, run ORDER BY server, first_seen;

-- Which pin stopped matching.
WITH newest AS (
        SELECT server, max(paths.at) AS newest_at, argMax(spkiPins, paths.at) AS pins
        FROM (
            SELECT server, at, arrayConcat(groupArray(spkiPin), groupArray(certificateSHA256)) AS spkiPins
            FROM paths GROUP BY server, at) AS paths
        GROUP BY server),
    matched AS (
        SELECT server, matchedPin, max(at) AS last_matched
        FROM results WHERE reason = 'pin-matched' GROUP BY server, matchedPin)
SELECT server, matchedPin, last_matched, newest_at
FROM matched INNER JOIN newest USING (server)
WHERE NOT has(pins, matchedPin) ORDER BY server, last_matched;
