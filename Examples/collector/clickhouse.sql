-- The table that the exporter of the OpenTelemetry Collector writes logs into, and reports as rows.
CREATE DATABASE IF NOT EXISTS pins;

CREATE TABLE IF NOT EXISTS pins.otel_logs
(
    Timestamp DateTime64(9) CODEC(Delta(8), ZSTD(1)),
    TimestampTime DateTime DEFAULT toDateTime(Timestamp),
    TraceId String CODEC(ZSTD(1)),
    SpanId String CODEC(ZSTD(1)),
    TraceFlags UInt8,
    SeverityText LowCardinality(String) CODEC(ZSTD(1)),
    SeverityNumber UInt8,
    ServiceName LowCardinality(String) CODEC(ZSTD(1)),
    Body String CODEC(ZSTD(1)),
    ResourceSchemaUrl LowCardinality(String) CODEC(ZSTD(1)),
    ResourceAttributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    ScopeSchemaUrl LowCardinality(String) CODEC(ZSTD(1)),
    ScopeName String CODEC(ZSTD(1)),
    ScopeVersion LowCardinality(String) CODEC(ZSTD(1)),
    ScopeAttributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    LogAttributes Map(LowCardinality(String), String) CODEC(ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(TimestampTime)
ORDER BY (ServiceName, TimestampTime)
TTL TimestampTime + INTERVAL 180 DAY;

-- One row a report: one that was sent twice, because an answer was lost, has the same id.
CREATE VIEW IF NOT EXISTS pins.pin_reports AS
SELECT
    LogAttributes['log.record.uid'] AS id,
    any(TimestampTime) AS failed_at,
    any(LogAttributes['server.address']) AS hostname,
    any(toUInt16OrZero(LogAttributes['server.port'])) AS port,
    any(LogAttributes['pintle.reason']) AS reason,
    any(LogAttributes['pintle.enforcement']) AS enforcement,
    any(LogAttributes['pintle.noted_hostname']) AS noted_hostname,
    any(LogAttributes['pintle.path_failure']) AS path_failure,
    any(toUInt64OrZero(LogAttributes['pintle.policy_version'])) AS policy_version,
    any(JSONExtractString(Body, 'app', 'name')) AS app_name,
    any(JSONExtractString(Body, 'app', 'version')) AS app_version,
    any(JSONExtractString(Body, 'served-certificate-chain', 1)) AS served_leaf,
    any(Body) AS report
FROM pins.otel_logs
WHERE LogAttributes['pintle.reason'] != ''
GROUP BY id;
