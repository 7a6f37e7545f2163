-- The results of audits, one row for each line of NDJSON, and a view with the newest result of each server and day. To load:
--   cat /audit/2026-11-23/*.ndjson | clickhouse-client --date_time_input_format best_effort \
--     --input_format_skip_unknown_fields 1 -q "INSERT INTO pins.audits FORMAT JSONEachRow"
-- Loading a file twice does not change the view, and ClickHouse merges equal rows later.
CREATE DATABASE IF NOT EXISTS pins;

CREATE TABLE IF NOT EXISTS pins.audits
(
    host String,
    port UInt16,
    connectTo String,
    at DateTime64(3, 'UTC'),
    milliseconds UInt32,
    -- Empty if the server was not reached; then error.code says why.
    decision LowCardinality(String),
    reason LowCardinality(String),
    pathFailure LowCardinality(String),
    error Tuple(code LowCardinality(String), message String),
    rule LowCardinality(String),
    matchedPin String,
    backup LowCardinality(String),
    certificateEnds Nullable(DateTime('UTC')),
    pinsEnd Nullable(DateTime('UTC')),
    tlsVersion LowCardinality(String),
    keyExchangeGroup LowCardinality(String),
    policy String
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(at)
ORDER BY (host, port, connectTo, at)
TTL toDateTime(at) + INTERVAL 400 DAY;

CREATE VIEW IF NOT EXISTS pins.audit_days AS
SELECT
    toDate(at) AS day,
    host,
    port,
    connectTo,
    argMax(if(decision = '', 'unreached', decision), at) AS outcome,
    argMax(if(decision = '', error.code, reason), at) AS reason,
    argMax(rule, at) AS rule,
    -- argMax by itself skips NULL, and would take the end of an older result.
    argMax(tuple(certificateEnds), at).1 AS certificateEnds,
    argMax(keyExchangeGroup, at) AS keyExchangeGroup
FROM pins.audits
GROUP BY day, host, port, connectTo;
