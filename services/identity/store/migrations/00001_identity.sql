-- +goose Up
-- Credentials are looked up by their own id before anybody knows their tenant. So these tables are keyed by that id,
-- which is also what to distribute them by, and row-level security admits, besides the tenant's rows, the one row that
-- the request's credential names (app.credential_id).

-- An API key's secret is kept as a keyed hash. session_sealed is the name that gateways know the key's session by,
-- encrypted: only so can a key that nobody holds any more be revoked there.
CREATE TABLE api_key (
    id             uuid        PRIMARY KEY,
    tenant_id      uuid        NOT NULL,
    user_id        uuid,
    client_id      uuid,
    name           text        NOT NULL,
    role_ids       uuid[]      NOT NULL,
    environment    text        NOT NULL,
    secret_hash    bytea       NOT NULL,
    session_sealed bytea       NOT NULL,
    created_at     timestamptz NOT NULL,
    expires_at     timestamptz,
    last_used_at   timestamptz,
    revoked_at     timestamptz
);
CREATE INDEX api_key_tenant ON api_key (tenant_id, id) WHERE revoked_at IS NULL;

-- role_ids: what the client may do is what its roles permit now, narrowed by scope if there is one. Without roles it is
-- scope alone.
CREATE TABLE oauth_client (
    id            uuid        PRIMARY KEY,
    tenant_id     uuid        NOT NULL,
    name          text        NOT NULL,
    role_ids      uuid[]      NOT NULL,
    scope         text[]      NOT NULL,
    grant_types   text[]      NOT NULL,
    redirect_uris text[]      NOT NULL,
    auth_method   text        NOT NULL,
    secret_hash   bytea,
    environment   text        NOT NULL,
    created_at    timestamptz NOT NULL
);
CREATE INDEX oauth_client_tenant ON oauth_client (tenant_id, id);

-- The hash of a token is also the name of its session at the gateways. Tokens are many and short-lived: nothing but
-- the key and a tiny index for the sweep is kept up to date for each. A token is worth nothing without its client.
CREATE TABLE access_token (
    hash        bytea       PRIMARY KEY,
    id          uuid        NOT NULL,
    tenant_id   uuid        NOT NULL,
    client_id   uuid        NOT NULL,
    scope       text[]      NOT NULL,
    environment text        NOT NULL,
    issued_at   timestamptz NOT NULL,
    expires_at  timestamptz NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0.05);
CREATE INDEX access_token_expiry ON access_token USING brin (expires_at) WITH (pages_per_range = 16);

-- A user may belong to several tenants, so users belong to none. email_key is the address as it is compared.
CREATE TABLE user_account (
    id                uuid        PRIMARY KEY,
    environment       text        NOT NULL,
    email             text        NOT NULL,
    email_key         text        NOT NULL,
    email_verified_at timestamptz,
    password_hash     text        NOT NULL,
    first_name        text        NOT NULL,
    last_name         text        NOT NULL,
    created_at        timestamptz NOT NULL,
    CONSTRAINT user_account_email UNIQUE (environment, email_key)
);

-- The shared secret has to be had back, since signatures are made with it: it is encrypted.
CREATE TABLE external_application (
    tenant_id     uuid        NOT NULL,
    id            uuid        NOT NULL,
    name          text        NOT NULL,
    launch_url    text        NOT NULL,
    secret_sealed bytea       NOT NULL,
    environment   text        NOT NULL,
    created_at    timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, id)
);

-- The keys that the server signs with, newest first in use. The private half is encrypted.
CREATE TABLE signing_key (
    id             text        PRIMARY KEY,
    public_jwk     jsonb       NOT NULL,
    private_sealed bytea       NOT NULL,
    created_at     timestamptz NOT NULL,
    retired_at     timestamptz
);
CREATE UNIQUE INDEX signing_key_current ON signing_key ((true)) WHERE retired_at IS NULL;

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

-- See libs/outbox.
CREATE TABLE outbox (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind       text        NOT NULL,
    key        text        NOT NULL,
    payload    jsonb       NOT NULL,
    attempts   integer     NOT NULL DEFAULT 0,
    due_at     timestamptz NOT NULL DEFAULT now(),
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX outbox_due ON outbox (due_at);
CREATE INDEX outbox_key ON outbox (key, id) WHERE key <> '';

ALTER TABLE api_key ENABLE ROW LEVEL SECURITY;
ALTER TABLE api_key FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON api_key USING (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
CREATE POLICY itself ON api_key FOR SELECT USING (id = nullif(current_setting('app.credential_id', true), '')::uuid);

ALTER TABLE oauth_client ENABLE ROW LEVEL SECURITY;
ALTER TABLE oauth_client FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON oauth_client USING (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
CREATE POLICY itself ON oauth_client FOR SELECT USING (id = nullif(current_setting('app.credential_id', true), '')::uuid);
-- Multi-tenant administrators see the clients of all tenants; the one query that lists them says so.
CREATE POLICY administrator ON oauth_client FOR SELECT USING (current_setting('app.administrator', true) = 'on');

ALTER TABLE access_token ENABLE ROW LEVEL SECURITY;
ALTER TABLE access_token FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON access_token USING (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
CREATE POLICY itself ON access_token FOR SELECT USING (encode(hash, 'hex') = current_setting('app.session', true));

ALTER TABLE external_application ENABLE ROW LEVEL SECURITY;
ALTER TABLE external_application FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON external_application USING (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);

ALTER TABLE idempotency_key ENABLE ROW LEVEL SECURITY;
ALTER TABLE idempotency_key FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON idempotency_key USING (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);

-- What has expired is swept for all tenants by functions of the owner's, who by these policies sees nothing else.
-- +goose StatementBegin
DO $$ BEGIN
    EXECUTE format('CREATE POLICY expired ON idempotency_key TO %I USING (created_at < now() - interval ''24 hours'')', current_user);
    EXECUTE format('CREATE POLICY expired ON access_token TO %I USING (expires_at < now())', current_user);
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
-- +goose StatementBegin
CREATE FUNCTION sweep_access_tokens(at_most integer) RETURNS bigint LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    WITH gone AS (
        DELETE FROM access_token WHERE ctid = ANY (ARRAY(
            SELECT ctid FROM access_token WHERE expires_at < now()
            LIMIT at_most FOR UPDATE SKIP LOCKED))
        RETURNING 1)
    SELECT count(*) FROM gone
$$;
-- +goose StatementEnd
REVOKE ALL ON FUNCTION sweep_idempotency_keys FROM PUBLIC;
REVOKE ALL ON FUNCTION sweep_access_tokens FROM PUBLIC;

-- +goose StatementBegin
DO $$
DECLARE service text := current_setting('app.service_role');
BEGIN
    EXECUTE format('GRANT USAGE ON SCHEMA public TO %I', service);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE ON api_key TO %I', service);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON oauth_client TO %I', service);
    EXECUTE format('GRANT SELECT, INSERT, DELETE ON access_token TO %I', service);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE ON user_account TO %I', service);
    EXECUTE format('GRANT SELECT, INSERT ON external_application TO %I', service);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE ON signing_key TO %I', service);
    EXECUTE format('GRANT SELECT, INSERT ON idempotency_key TO %I', service);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON outbox TO %I', service);
    EXECUTE format('GRANT EXECUTE ON FUNCTION sweep_idempotency_keys TO %I', service);
    EXECUTE format('GRANT EXECUTE ON FUNCTION sweep_access_tokens TO %I', service);
END $$;
-- +goose StatementEnd
