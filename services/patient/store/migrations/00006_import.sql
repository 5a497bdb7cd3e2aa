-- +goose Up
-- What imports under an idempotency key stored, for as long as the key is remembered: of each batch the numbers of its lines
-- within their block, what their contents hash to, one after the other, and their patients, all in one order.
CREATE TABLE patient_import (
    tenant_id     uuid        NOT NULL,
    credential_id text        NOT NULL,
    key           text        NOT NULL,
    block         bigint      NOT NULL,
    first_line    bigint      NOT NULL,
    lines         smallint[]  NOT NULL,
    digests       bytea       NOT NULL,
    patient_ids   bigint[]    NOT NULL,
    created_at    timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, credential_id, key, block, first_line)
);
CREATE INDEX patient_import_age ON patient_import (created_at);

-- Which import under a key is under way, and until when it is taken to be if nothing more is heard of it.
CREATE TABLE patient_import_run (
    tenant_id     uuid        NOT NULL,
    credential_id text        NOT NULL,
    key           text        NOT NULL,
    holder        uuid        NOT NULL,
    until         timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, credential_id, key)
);
CREATE INDEX patient_import_run_age ON patient_import_run (until);

ALTER TABLE patient_import ENABLE ROW LEVEL SECURITY;
ALTER TABLE patient_import FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON patient_import USING (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);

ALTER TABLE patient_import_run ENABLE ROW LEVEL SECURITY;
ALTER TABLE patient_import_run FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON patient_import_run USING (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);

-- They expire as keys do, and are swept with them.
-- +goose StatementBegin
DO $$ BEGIN
    EXECUTE format('CREATE POLICY expired ON patient_import TO %I USING (created_at < now() - interval ''24 hours'')', current_user);
    EXECUTE format('CREATE POLICY expired ON patient_import_run TO %I USING (until < now() - interval ''24 hours'')', current_user);
END $$;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION sweep_idempotency_keys(at_most integer) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    gone  bigint := 0;
    swept bigint;
BEGIN
    DELETE FROM patient_import WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM patient_import WHERE created_at < now() - interval '24 hours'
        ORDER BY created_at LIMIT at_most FOR UPDATE SKIP LOCKED));
    GET DIAGNOSTICS swept = ROW_COUNT;
    gone := gone + swept;
    DELETE FROM patient_import_run WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM patient_import_run WHERE until < now() - interval '24 hours'
        ORDER BY until LIMIT at_most - gone FOR UPDATE SKIP LOCKED));
    GET DIAGNOSTICS swept = ROW_COUNT;
    gone := gone + swept;
    DELETE FROM idempotency_key WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM idempotency_key WHERE created_at < now() - interval '24 hours'
        ORDER BY created_at LIMIT at_most - gone FOR UPDATE SKIP LOCKED));
    GET DIAGNOSTICS swept = ROW_COUNT;
    RETURN gone + swept;
END
$$;
-- +goose StatementEnd

-- +goose StatementBegin
DO $$
DECLARE service text := current_setting('app.service_role');
BEGIN
    EXECUTE format('GRANT SELECT, INSERT ON patient_import TO %I', service);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE ON patient_import_run TO %I', service);
END $$;
-- +goose StatementEnd
