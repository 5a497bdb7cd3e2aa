-- +goose Up
-- A tenant's own OpenID Connect provider. It is looked up by the tenant that somebody wants to sign in to, which is the
-- tenant that the batch is held to: no more than that one row is seen.
CREATE TABLE identity_provider (
    tenant_id     uuid        PRIMARY KEY,
    issuer        text        NOT NULL,
    client_id     text        NOT NULL,
    secret_sealed bytea       NOT NULL,
    name          text        NOT NULL,
    created_at    timestamptz NOT NULL,
    updated_at    timestamptz NOT NULL
);

-- Who a user is at a provider. The names are the provider's (OpenID Connect Core §2), so the row is the user's and no
-- tenant's: two tenants that trust the same provider mean the same person.
CREATE TABLE federated_identity (
    issuer    text        NOT NULL,
    subject   text        NOT NULL,
    user_id   uuid        NOT NULL,
    linked_at timestamptz NOT NULL,
    PRIMARY KEY (issuer, subject)
);
CREATE INDEX federated_identity_user ON federated_identity (user_id);

-- A sign-in that is under way at a provider, under the hash of its state. browser_hash is of the cookie of the browser
-- that began it; nonce, PKCE verifier and the way back are sealed.
CREATE TABLE federation_state (
    hash         bytea       PRIMARY KEY,
    tenant_id    uuid        NOT NULL,
    issuer       text        NOT NULL,
    browser_hash bytea       NOT NULL,
    sealed       bytea       NOT NULL,
    expires_at   timestamptz NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0.05);
CREATE INDEX federation_state_expiry ON federation_state USING brin (expires_at) WITH (pages_per_range = 16);

-- Somebody whom a provider vouched for, and who has still to prove that the account with that address is theirs. The
-- address is kept as a keyed hash; what the page shows of it is sealed.
CREATE TABLE federation_link (
    hash         bytea       PRIMARY KEY,
    tenant_id    uuid        NOT NULL,
    issuer       text        NOT NULL,
    subject      text        NOT NULL,
    email_hash   bytea       NOT NULL,
    browser_hash bytea       NOT NULL,
    sealed       bytea       NOT NULL,
    created_at   timestamptz NOT NULL,
    expires_at   timestamptz NOT NULL
);
CREATE INDEX federation_link_expiry ON federation_link USING brin (expires_at) WITH (pages_per_range = 16);

ALTER TABLE identity_provider ENABLE ROW LEVEL SECURITY;
ALTER TABLE identity_provider FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON identity_provider USING (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);

ALTER TABLE federated_identity ENABLE ROW LEVEL SECURITY;
ALTER TABLE federated_identity FORCE ROW LEVEL SECURITY;
CREATE POLICY person ON federated_identity USING (user_id = nullif(current_setting('app.user_id', true), '')::uuid);
CREATE POLICY itself ON federated_identity FOR SELECT
    USING (issuer = current_setting('app.issuer', true) AND subject = current_setting('app.subject', true));

-- Who presents the secret may spend it, whatever its tenant.
ALTER TABLE federation_state ENABLE ROW LEVEL SECURITY;
ALTER TABLE federation_state FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON federation_state USING (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
CREATE POLICY itself ON federation_state USING (encode(hash, 'hex') = current_setting('app.session', true));

ALTER TABLE federation_link ENABLE ROW LEVEL SECURITY;
ALTER TABLE federation_link FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON federation_link USING (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
CREATE POLICY itself ON federation_link USING (encode(hash, 'hex') = current_setting('app.session', true));

-- +goose StatementBegin
DO $$ BEGIN
    EXECUTE format('CREATE POLICY expired ON federation_state TO %I USING (expires_at < now())', current_user);
    EXECUTE format('CREATE POLICY expired ON federation_link TO %I USING (expires_at < now())', current_user);
END $$;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE FUNCTION sweep_federation(at_most integer) RETURNS bigint LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    WITH states AS (
        DELETE FROM federation_state WHERE ctid = ANY (ARRAY(
            SELECT ctid FROM federation_state WHERE expires_at < now() LIMIT at_most FOR UPDATE SKIP LOCKED))
        RETURNING 1),
    links AS (
        DELETE FROM federation_link WHERE ctid = ANY (ARRAY(
            SELECT ctid FROM federation_link WHERE expires_at < now() LIMIT at_most FOR UPDATE SKIP LOCKED))
        RETURNING 1)
    SELECT greatest((SELECT count(*) FROM states), (SELECT count(*) FROM links))
$$;
-- +goose StatementEnd
REVOKE ALL ON FUNCTION sweep_federation FROM PUBLIC;

-- +goose StatementBegin
DO $$
DECLARE service text := current_setting('app.service_role');
BEGIN
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON identity_provider TO %I', service);
    EXECUTE format('GRANT SELECT, INSERT ON federated_identity TO %I', service);
    EXECUTE format('GRANT SELECT, INSERT, DELETE ON federation_state TO %I', service);
    EXECUTE format('GRANT SELECT, INSERT, DELETE ON federation_link TO %I', service);
    EXECUTE format('GRANT EXECUTE ON FUNCTION sweep_federation TO %I', service);
END $$;
-- +goose StatementEnd
