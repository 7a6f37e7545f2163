-- The lines that `pintle audit -o` writes, and two views of them, for SQLite 3.38 or later.
CREATE TABLE IF NOT EXISTS lines (line TEXT);

-- A row for each result. A line that was cut off and a line that was loaded twice do not count.
CREATE VIEW IF NOT EXISTS results AS
SELECT DISTINCT
    line ->> 'host' || ':' || (line ->> 'port') || coalesce(' at ' || (line ->> 'connectTo'), '') AS server,
    line ->> 'at' AS at,
    coalesce(line ->> 'reason', line -> 'error' ->> 'code') AS reason,
    line ->> 'matchedPin' AS matchedPin,
    line -> 'certificates' AS certificates
FROM (SELECT line FROM lines WHERE json_valid(line));

-- A row for each certificate of each validated path.
CREATE VIEW IF NOT EXISTS paths AS
SELECT server, at, value ->> 'position' AS position, value ->> 'spkiPin' AS spkiPin,
    value ->> 'certificateSHA256' AS certificateSHA256
FROM results, json_each(certificates)
WHERE value ->> 'onPath';
