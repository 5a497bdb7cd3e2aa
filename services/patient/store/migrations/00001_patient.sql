-- +goose Up
-- Ids: a sequence spread by a random gap, so that they grow with creation, stay below 2^53 for the next eight trillion
-- patients, and the next one cannot be told from the last.
CREATE SEQUENCE patient_id AS bigint;

CREATE TABLE patient (
    tenant_id           uuid        NOT NULL,
    id                  bigint      NOT NULL DEFAULT nextval('patient_id') * 1024 + floor(random() * 1024)::bigint,
    first_name          text        NOT NULL,
    middle_name         text        NOT NULL,
    last_name           text        NOT NULL,
    prefix              text        NOT NULL,
    suffix              text        NOT NULL,
    dob                 date        NOT NULL,
    sex_at_birth        text        NOT NULL,
    gender              text        NOT NULL,
    race                text        NOT NULL,
    ethnicity           text        NOT NULL,
    gender_identity     text        NOT NULL,
    preferred_language  text        NOT NULL,
    ssn_last4           text        NOT NULL CHECK (ssn_last4 ~ '^([0-9]{4})?$'),
    deceased            boolean     NOT NULL DEFAULT false,
    deceased_date       date,
    deceased_source     text        NOT NULL DEFAULT '',
    deceased_note       text        NOT NULL DEFAULT '',
    deceased_updated_at timestamptz,
    version             bigint      NOT NULL,
    created_at          timestamptz NOT NULL,
    updated_at          timestamptz NOT NULL,
    deleted_at          timestamptz,
    PRIMARY KEY (tenant_id, id)
) WITH (fillfactor = 90);

-- What lists walk: a tenant that deleted its first million patients still pages at once.
CREATE INDEX patient_live ON patient (tenant_id, id) WHERE deleted_at IS NULL;

CREATE TABLE patient_history (
    tenant_id     uuid        NOT NULL,
    patient_id    bigint      NOT NULL,
    version       bigint      NOT NULL,
    changed_at    timestamptz NOT NULL,
    actor_type    text        NOT NULL,
    actor_id      text        NOT NULL,
    credential_id text        NOT NULL,
    change        text        NOT NULL,
    fields        text[]      NOT NULL,
    PRIMARY KEY (tenant_id, patient_id, version)
);

-- How many undeleted patients a tenant has, as a sum of appended deltas that are rolled up now and then: exact at any
-- moment, and no row that all writers of a tenant wait for.
CREATE TABLE patient_count (
    tenant_id uuid   NOT NULL,
    id        bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    delta     bigint NOT NULL,
    PRIMARY KEY (tenant_id, id)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

CREATE TABLE idempotency_key (
    tenant_id     uuid        NOT NULL,
    credential_id text        NOT NULL,
    key           text        NOT NULL,
    request_hash  bytea       NOT NULL,
    status        integer     NOT NULL,
    body          bytea       NOT NULL,
    resource_id   text        NOT NULL,
    created_at    timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT idempotency_key_pkey PRIMARY KEY (tenant_id, credential_id, key)
);
CREATE INDEX idempotency_key_age ON idempotency_key (created_at);

ALTER TABLE patient ENABLE ROW LEVEL SECURITY;
ALTER TABLE patient FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON patient USING (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);

ALTER TABLE patient_history ENABLE ROW LEVEL SECURITY;
ALTER TABLE patient_history FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON patient_history USING (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);

ALTER TABLE patient_count ENABLE ROW LEVEL SECURITY;
ALTER TABLE patient_count FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON patient_count USING (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);

ALTER TABLE idempotency_key ENABLE ROW LEVEL SECURITY;
ALTER TABLE idempotency_key FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON idempotency_key USING (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);

-- Expired keys of all tenants are swept by a function of the owner's, who by this policy sees nothing but them.
-- +goose StatementBegin
DO $$ BEGIN
    EXECUTE format('CREATE POLICY expired ON idempotency_key TO %I USING (created_at < now() - interval ''24 hours'')', current_user);
END $$;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE FUNCTION sweep_idempotency_keys(at_most integer) RETURNS bigint LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    WITH gone AS (
        DELETE FROM idempotency_key WHERE ctid = ANY (ARRAY(
            SELECT ctid FROM idempotency_key WHERE created_at < now() - interval '24 hours'
            ORDER BY created_at LIMIT at_most FOR UPDATE SKIP LOCKED))
        RETURNING 1)
    SELECT count(*) FROM gone
$$;
-- +goose StatementEnd
REVOKE ALL ON FUNCTION sweep_idempotency_keys FROM PUBLIC;

-- +goose StatementBegin
DO $$
DECLARE service text := current_setting('app.service_role');
BEGIN
    EXECUTE format('GRANT USAGE ON SCHEMA public TO %I', service);
    EXECUTE format('GRANT USAGE ON SEQUENCE patient_id TO %I', service);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE ON patient TO %I', service);
    EXECUTE format('GRANT SELECT, INSERT ON patient_history TO %I', service);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE (delta), DELETE ON patient_count TO %I', service); -- FOR UPDATE asks for UPDATE
    EXECUTE format('GRANT SELECT, INSERT ON idempotency_key TO %I', service);
    EXECUTE format('GRANT EXECUTE ON FUNCTION sweep_idempotency_keys TO %I', service);
END $$;
-- +goose StatementEnd
