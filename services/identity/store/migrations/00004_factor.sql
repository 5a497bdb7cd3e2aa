-- +goose Up
-- What people prove themselves with besides the password belongs to a user and to no tenant: row-level security admits
-- the rows of the user that the batch names (app.user_id). A challenge and a ceremony are looked up before their user is
-- known, by the hash of a secret (app.session).

-- last_step: codes of that time step and of earlier ones are not accepted (any more).
CREATE TABLE totp (
    user_id       uuid        PRIMARY KEY,
    secret_sealed bytea       NOT NULL,
    last_step     bigint      NOT NULL DEFAULT 0,
    created_at    timestamptz NOT NULL,
    confirmed_at  timestamptz
);

-- A code that was used is not there any more.
CREATE TABLE recovery_code (
    user_id uuid  NOT NULL,
    hash    bytea NOT NULL,
    PRIMARY KEY (user_id, hash)
);

-- credential_id is the authenticator's name for it, and nobody else may have the same (WebAuthn §7.1 step 26).
CREATE TABLE passkey (
    user_id         uuid        NOT NULL,
    id              uuid        NOT NULL,
    credential_id   bytea       NOT NULL,
    public_key      bytea       NOT NULL,
    aaguid          bytea       NOT NULL,
    transports      text[]      NOT NULL,
    backup_eligible boolean     NOT NULL,
    backed_up       boolean     NOT NULL,
    sign_count      bigint      NOT NULL,
    name            text        NOT NULL,
    created_at      timestamptz NOT NULL,
    last_used_at    timestamptz,
    PRIMARY KEY (user_id, id),
    CONSTRAINT passkey_credential UNIQUE (credential_id)
);

CREATE TABLE passkey_ceremony (
    hash       bytea       PRIMARY KEY,
    kind       text        NOT NULL,
    user_id    uuid,
    challenge  bytea,
    state      bytea       NOT NULL,
    expires_at timestamptz NOT NULL
);
CREATE INDEX passkey_ceremony_expiry ON passkey_ceremony (expires_at);

-- tries counts answers and sent the codes mailed. A challenge that was answered is not there any more.
CREATE TABLE challenge (
    hash            bytea       PRIMARY KEY,
    user_id         uuid        NOT NULL,
    carry           jsonb       NOT NULL,
    tries           integer     NOT NULL DEFAULT 0,
    sent            integer     NOT NULL DEFAULT 0,
    code_hash       bytea,
    code_expires_at timestamptz,
    created_at      timestamptz NOT NULL,
    expires_at      timestamptz NOT NULL
);
CREATE INDEX challenge_user ON challenge (user_id);
CREATE INDEX challenge_expiry ON challenge (expires_at);

-- When a user gave wrong answers, and was mailed codes: no more instants than the bounds allow.
CREATE TABLE factor_limit (
    user_id uuid          PRIMARY KEY,
    wrong   timestamptz[] NOT NULL DEFAULT '{}',
    sent    timestamptz[] NOT NULL DEFAULT '{}'
);

-- +goose StatementBegin
DO $$
DECLARE scoped text;
BEGIN
    FOREACH scoped IN ARRAY ARRAY['totp', 'recovery_code', 'passkey', 'passkey_ceremony', 'challenge', 'factor_limit'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', scoped);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', scoped);
        EXECUTE format('CREATE POLICY owner ON %I USING (user_id = nullif(current_setting(''app.user_id'', true), '''')::uuid)', scoped);
    END LOOP;
    FOREACH scoped IN ARRAY ARRAY['passkey_ceremony', 'challenge'] LOOP
        EXECUTE format('CREATE POLICY itself ON %I USING (encode(hash, ''hex'') = current_setting(''app.session'', true))', scoped);
        EXECUTE format('CREATE POLICY expired ON %I TO %I USING (expires_at < now())', scoped, current_user);
    END LOOP;
END $$;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE FUNCTION sweep_challenges(at_most integer) RETURNS bigint LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    WITH gone AS (
        DELETE FROM challenge WHERE ctid = ANY (ARRAY(
            SELECT ctid FROM challenge WHERE expires_at < now()
            ORDER BY expires_at LIMIT at_most FOR UPDATE SKIP LOCKED))
        RETURNING 1)
    SELECT count(*) FROM gone
$$;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE FUNCTION sweep_passkey_ceremonies(at_most integer) RETURNS bigint LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    WITH gone AS (
        DELETE FROM passkey_ceremony WHERE ctid = ANY (ARRAY(
            SELECT ctid FROM passkey_ceremony WHERE expires_at < now()
            ORDER BY expires_at LIMIT at_most FOR UPDATE SKIP LOCKED))
        RETURNING 1)
    SELECT count(*) FROM gone
$$;
-- +goose StatementEnd
REVOKE ALL ON FUNCTION sweep_challenges FROM PUBLIC;
REVOKE ALL ON FUNCTION sweep_passkey_ceremonies FROM PUBLIC;

-- +goose StatementBegin
DO $$
DECLARE service text := current_setting('app.service_role');
BEGIN
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON totp TO %I', service);
    EXECUTE format('GRANT SELECT, INSERT, DELETE ON recovery_code TO %I', service);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON passkey TO %I', service);
    EXECUTE format('GRANT SELECT, INSERT, DELETE ON passkey_ceremony TO %I', service);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON challenge TO %I', service);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE ON factor_limit TO %I', service);
    EXECUTE format('GRANT EXECUTE ON FUNCTION sweep_challenges TO %I', service);
    EXECUTE format('GRANT EXECUTE ON FUNCTION sweep_passkey_ceremonies TO %I', service);
END $$;
-- +goose StatementEnd
