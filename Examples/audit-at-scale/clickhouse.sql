-- The results of audits, one row for each line of NDJSON. load.sh loads them. A database is for the audits of one app: results of
-- other policies would count as changed ones.
CREATE TABLE IF NOT EXISTS audits
(
    audit LowCardinality(String),
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
    policy LowCardinality(String),
    anchors LowCardinality(String)
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(at)
ORDER BY (audit, host, port, connectTo, at)
TTL toDateTime(at) + INTERVAL 400 DAY;

-- The audits. The newest one has the age 0.
CREATE VIEW IF NOT EXISTS audit_ages AS
SELECT audit, min(at) AS started, row_number() OVER (ORDER BY min(at) DESC) - 1 AS age
FROM audits
GROUP BY audit;

-- The newest result of each server in each audit.
CREATE VIEW IF NOT EXISTS audit_servers AS
SELECT
    audit,
    host,
    port,
    connectTo,
    argMax(if(decision = '', 'unreached', decision), at) AS outcome,
    argMax(if(decision = '', error.code, reason), at) AS reason,
    argMax(rule, at) AS rule,
    -- argMax by itself skips NULL, and would take the end of an older result.
    argMax(tuple(certificateEnds), at).1 AS certificateEnds,
    argMax(keyExchangeGroup, at) AS keyExchangeGroup,
    argMax((policy, anchors), at) AS basis
FROM audits
GROUP BY audit, host, port, connectTo;
