-- The table into which the exporter of the OpenTelemetry Collector writes logs, and a view of the reports.
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
    LogAttributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    -- The exporter does not write this column. The other times come from the sender and may be false.
    ReceivedAt DateTime DEFAULT now()
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(ReceivedAt)
ORDER BY (ServiceName, TimestampTime)
TTL ReceivedAt + INTERVAL 180 DAY;

-- One row for each report. An app sends a report again with the same id if the answer was lost.
CREATE VIEW IF NOT EXISTS pins.pin_reports AS
SELECT
    LogAttributes['log.record.uid'] AS id,
    any(TimestampTime) AS failed_at,
    any(LogAttributes['server.address']) AS hostname,
    any(toUInt16OrZero(LogAttributes['server.port'])) AS port,
    -- Empty for the plain object, which has no such member.
    any(LogAttributes['pintle.decision']) AS decision,
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
-- Apps drop a report after 30 days, and some clocks are wrong by a day.
WHERE LogAttributes['pintle.reason'] != ''
    AND TimestampTime BETWEEN ReceivedAt - INTERVAL 32 DAY AND ReceivedAt + INTERVAL 1 DAY
GROUP BY id;
