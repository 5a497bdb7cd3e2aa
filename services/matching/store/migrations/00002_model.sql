-- +goose Up
-- The versions of each tenant's model. They do not change, and none is ever removed.
CREATE TABLE model (
    tenant_id       uuid        NOT NULL,
    version         bigint      NOT NULL CHECK (version > 0),
    name            text        NOT NULL,
    description     text        NOT NULL,
    parent          bigint      CHECK (parent BETWEEN 0 AND version - 1),
    training        json        NOT NULL, -- figures
    weights         json        NOT NULL, -- see libs/linkage
    created_at      timestamptz NOT NULL,
    created_by_type text        NOT NULL,
    created_by_id   text        NOT NULL,
    CONSTRAINT model_pkey PRIMARY KEY (tenant_id, version)
);

-- Which version was active from when on: the highest number is the one that is. Below is the number that rolling back
-- leads to; 0 is the time before the first. Version 0 is the model that is built in.
CREATE TABLE model_activation (
    tenant_id uuid        NOT NULL,
    number    bigint      NOT NULL CHECK (number > 0),
    version   bigint      NOT NULL,
    below     bigint      CHECK (below BETWEEN 0 AND number - 1),
    at        timestamptz NOT NULL,
    by_type   text        NOT NULL,
    by_id     text        NOT NULL,
    CONSTRAINT model_activation_pkey PRIMARY KEY (tenant_id, number)
);
CREATE INDEX model_activation_version ON model_activation (tenant_id, version, number);

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

ALTER TABLE model ENABLE ROW LEVEL SECURITY;
ALTER TABLE model FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON model USING (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);

ALTER TABLE model_activation ENABLE ROW LEVEL SECURITY;
ALTER TABLE model_activation FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON model_activation USING (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);

ALTER TABLE idempotency_key ENABLE ROW LEVEL SECURITY;
ALTER TABLE idempotency_key FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON idempotency_key USING (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);

-- Every process looks for all tenants at once whether another version became active. It does so by a function of the
-- owner's, which tells numbers and nothing else.
-- +goose StatementBegin
DO $$ BEGIN
    EXECUTE format('CREATE POLICY choice ON model_activation FOR SELECT TO %I USING (true)', current_user);
    EXECUTE format('CREATE POLICY expired ON idempotency_key TO %I USING (created_at < now() - interval ''24 hours'')', current_user);
END $$;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE FUNCTION model_choices(tenants uuid[]) RETURNS TABLE (tenant_id uuid, number bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT t.id, (SELECT max(a.number) FROM model_activation a WHERE a.tenant_id = t.id) FROM unnest(tenants) AS t (id)
$$;
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
REVOKE ALL ON FUNCTION model_choices, sweep_idempotency_keys FROM PUBLIC;

-- +goose StatementBegin
DO $$
DECLARE service text := current_setting('app.service_role');
BEGIN
    EXECUTE format('GRANT SELECT, INSERT ON model, model_activation, idempotency_key TO %I', service);
    EXECUTE format('GRANT EXECUTE ON FUNCTION model_choices, sweep_idempotency_keys TO %I', service);
END $$;
-- +goose StatementEnd
