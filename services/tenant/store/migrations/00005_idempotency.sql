-- +goose Up
-- See libs/idempotency.
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

ALTER TABLE idempotency_key ENABLE ROW LEVEL SECURITY;
ALTER TABLE idempotency_key FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON idempotency_key USING (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);

-- What has expired is swept for all tenants by a function of the owner's, who by this policy sees nothing else.
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
    EXECUTE format('GRANT SELECT, INSERT ON idempotency_key TO %I', service);
    EXECUTE format('GRANT EXECUTE ON FUNCTION sweep_idempotency_keys TO %I', service);
END $$;
-- +goose StatementEnd
