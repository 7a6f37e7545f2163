-- One row for each report.
CREATE TABLE IF NOT EXISTS pin_reports (
    id text PRIMARY KEY,
    received_at timestamptz NOT NULL,
    report jsonb NOT NULL
);
CREATE INDEX IF NOT EXISTS pin_reports_received_at ON pin_reports (received_at);

-- An app sends a report again with the same id if the answer was lost. The trigger drops the second one without an error.
CREATE OR REPLACE FUNCTION pin_reports_once() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM pin_reports WHERE id = NEW.id) THEN RETURN NULL; END IF;
    RETURN NEW;
END $$;
CREATE OR REPLACE TRIGGER pin_reports_once BEFORE INSERT ON pin_reports
    FOR EACH ROW EXECUTE FUNCTION pin_reports_once();

CREATE OR REPLACE VIEW pin_failures AS
SELECT
    id,
    received_at,
    (report->>'date-time')::timestamptz AS failed_at,
    report->>'hostname' AS hostname,
    (report->>'port')::int AS port,
    report->>'reason' AS reason,
    report->>'enforcement' AS enforcement,
    report->>'noted-hostname' AS noted_hostname,
    report->>'path-failure' AS path_failure,
    (report->>'policy-version')::bigint AS policy_version,
    (report->>'effective-expiration-date')::timestamptz AS pins_expire_at,
    report->'app'->>'name' AS app_name,
    report->'app'->>'version' AS app_version,
    report->'served-certificate-chain'->>0 AS served_leaf,
    report->'known-pins' AS known_pins
FROM pin_reports;

-- Run once a day: DELETE FROM pin_reports WHERE received_at < now() - interval '180 days';
