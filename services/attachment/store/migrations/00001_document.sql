-- +goose Up
CREATE TABLE document (
    tenant_id         uuid        NOT NULL,
    patient_id        bigint      NOT NULL,
    id                uuid        NOT NULL,
    type              text        NOT NULL,
    content_type      text        NOT NULL,
    filename          text        NOT NULL,
    title             text        NOT NULL,
    folded            text        NOT NULL, -- title and filename as a search compares them
    declared_size     bigint      CHECK (declared_size >= 0),
    payload           text,                 -- a JSON value as it came: neither json nor jsonb leaves it so
    payload_bytes     integer     NOT NULL GENERATED ALWAYS AS (coalesce(octet_length(payload), 0)) STORED,
    blob_key          text,
    content_size      bigint,
    content_sha256    bytea,
    encryption_key_id text        NOT NULL DEFAULT '',
    uploaded_at       timestamptz,
    version           bigint      NOT NULL,
    created_at        timestamptz NOT NULL,
    updated_at        timestamptz NOT NULL,
    deactivated_at    timestamptz,
    PRIMARY KEY (tenant_id, patient_id, id),
    CONSTRAINT document_content CHECK (num_nulls(blob_key, content_size, content_sha256, uploaded_at) IN (0, 4)),
    CONSTRAINT document_size CHECK (content_size = declared_size)
);

-- Uploads that are under way, so that what one leaves behind is found. Names of blobs alone, which are ids: those of all
-- tenants are collected together.
CREATE TABLE blob_upload (
    blob_key      text        PRIMARY KEY,
    started_at    timestamptz NOT NULL,
    expires_at    timestamptz NOT NULL,
    claimed_until timestamptz
);
CREATE INDEX blob_upload_age ON blob_upload (expires_at);

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

-- See libs/audit.
CREATE TABLE audit_entry (
    seq     bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at      timestamptz NOT NULL DEFAULT now(),
    number  integer     NOT NULL DEFAULT 1,
    entries json        NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

CREATE TABLE audit_lease (
    single boolean     PRIMARY KEY DEFAULT true CHECK (single),
    holder uuid        NOT NULL,
    until  timestamptz NOT NULL
);
INSERT INTO audit_lease (holder, until) VALUES ('00000000-0000-0000-0000-000000000000', '-infinity');

ALTER TABLE document ENABLE ROW LEVEL SECURITY;
ALTER TABLE document FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON document USING (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);

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
    EXECUTE format('GRANT SELECT, INSERT, UPDATE ON document TO %I', service);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE (claimed_until), DELETE ON blob_upload TO %I', service);
    EXECUTE format('GRANT SELECT, INSERT ON idempotency_key TO %I', service);
    EXECUTE format('GRANT EXECUTE ON FUNCTION sweep_idempotency_keys TO %I', service);
    EXECUTE format('GRANT SELECT, INSERT, DELETE ON audit_entry TO %I', service);
    EXECUTE format('GRANT SELECT, UPDATE ON audit_lease TO %I', service);
END $$;
-- +goose StatementEnd
