-- +goose Up
-- People's grants. They belong to a user, who may stand in several tenants, so row-level security admits what is the
-- user's (app.user_id), and the one row whose hash the request presents before anybody knows the user (app.session).

-- The public client's id is no UUID, so what names a client is text. A user's token names the user and the family.
ALTER TABLE access_token ALTER COLUMN client_id TYPE text;
ALTER TABLE access_token ADD COLUMN user_id uuid, ADD COLUMN family_id uuid;
CREATE INDEX access_token_family ON access_token (family_id) WHERE family_id IS NOT NULL;
CREATE INDEX access_token_client ON access_token (client_id) WHERE family_id IS NOT NULL;

-- Keys that a client proves itself by (private_key_jwt).
ALTER TABLE oauth_client ADD COLUMN jwks text NOT NULL DEFAULT '', ADD COLUMN jwks_uri text NOT NULL DEFAULT '';

-- A sign-in of a user at a client: the line of refresh tokens that came from one consent or one launch. tenant_id is
-- where it stands now.
CREATE TABLE token_family (
    id          uuid        PRIMARY KEY,
    user_id     uuid        NOT NULL,
    client_id   text        NOT NULL,
    tenant_id   uuid        NOT NULL,
    scope       text[]      NOT NULL,
    environment text        NOT NULL,
    sign_in_id  uuid,
    agent       text        NOT NULL,
    created_at  timestamptz NOT NULL,
    used_at     timestamptz NOT NULL,
    ended_at    timestamptz
);
CREATE INDEX token_family_user ON token_family (user_id, used_at);
CREATE INDEX token_family_used ON token_family (used_at);

CREATE TABLE authorization_code (
    hash         bytea       PRIMARY KEY,
    family_id    uuid        NOT NULL,
    client_id    text        NOT NULL,
    redirect_uri text        NOT NULL,
    challenge    text        NOT NULL,
    user_id      uuid        NOT NULL,
    tenant_id    uuid        NOT NULL,
    sign_in_id   uuid,
    agent        text        NOT NULL,
    scope        text[]      NOT NULL,
    environment  text        NOT NULL,
    created_at   timestamptz NOT NULL,
    expires_at   timestamptz NOT NULL,
    spent_at     timestamptz
);
CREATE INDEX authorization_code_user ON authorization_code (user_id);
CREATE INDEX authorization_code_expiry ON authorization_code (expires_at);

-- A spent token stays as long as it could be presented again, so that it is known for one. The pair that took its place
-- is sealed beside it for the moment in which the client may not have got it.
CREATE TABLE refresh_token (
    hash             bytea       PRIMARY KEY,
    family_id        uuid        NOT NULL,
    user_id          uuid        NOT NULL,
    issued_at        timestamptz NOT NULL,
    expires_at       timestamptz NOT NULL,
    spent_at         timestamptz,
    successor_sealed bytea
);
CREATE INDEX refresh_token_expiry ON refresh_token (expires_at);
CREATE INDEX refresh_token_sealed ON refresh_token (spent_at) WHERE successor_sealed IS NOT NULL;

CREATE TABLE consent (
    user_id    uuid        NOT NULL,
    client_id  text        NOT NULL,
    scope      text[]      NOT NULL,
    granted_at timestamptz NOT NULL,
    PRIMARY KEY (user_id, client_id)
);

CREATE TABLE pushed_request (
    hash       bytea       PRIMARY KEY,
    client_id  text        NOT NULL,
    parameters text        NOT NULL,
    begun      boolean     NOT NULL DEFAULT false,
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL
);
CREATE INDEX pushed_request_expiry ON pushed_request (expires_at);

-- A key is published before it signs. Of several replicas that make the next one at once, one gives it its number.
DROP INDEX signing_key_current;
ALTER TABLE signing_key ADD COLUMN generation integer NOT NULL DEFAULT 1, ADD COLUMN signs_from timestamptz NOT NULL DEFAULT now();
CREATE UNIQUE INDEX signing_key_generation ON signing_key (generation);

CREATE POLICY owner ON access_token USING (user_id = nullif(current_setting('app.user_id', true), '')::uuid);
-- A client that is deleted: which tenants its users' tokens are of.
CREATE POLICY client ON access_token FOR SELECT USING (family_id IS NOT NULL AND client_id = nullif(current_setting('app.client_id', true), ''));

ALTER TABLE token_family ENABLE ROW LEVEL SECURITY;
ALTER TABLE token_family FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON token_family USING (user_id = nullif(current_setting('app.user_id', true), '')::uuid);

ALTER TABLE authorization_code ENABLE ROW LEVEL SECURITY;
ALTER TABLE authorization_code FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON authorization_code USING (user_id = nullif(current_setting('app.user_id', true), '')::uuid);
CREATE POLICY itself ON authorization_code FOR SELECT USING (encode(hash, 'hex') = current_setting('app.session', true));

ALTER TABLE refresh_token ENABLE ROW LEVEL SECURITY;
ALTER TABLE refresh_token FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON refresh_token USING (user_id = nullif(current_setting('app.user_id', true), '')::uuid);
CREATE POLICY itself ON refresh_token FOR SELECT USING (encode(hash, 'hex') = current_setting('app.session', true));

ALTER TABLE consent ENABLE ROW LEVEL SECURITY;
ALTER TABLE consent FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON consent USING (user_id = nullif(current_setting('app.user_id', true), '')::uuid);

ALTER TABLE pushed_request ENABLE ROW LEVEL SECURITY;
ALTER TABLE pushed_request FORCE ROW LEVEL SECURITY;
CREATE POLICY itself ON pushed_request USING (encode(hash, 'hex') = current_setting('app.session', true));

-- The sweep, as for access tokens. Of a family, what could still be presented decides.
-- +goose StatementBegin
DO $$ BEGIN
    EXECUTE format('CREATE POLICY expired ON authorization_code TO %I USING (expires_at < now() - interval ''1 day'')', current_user);
    EXECUTE format('CREATE POLICY expired ON refresh_token TO %I USING (expires_at < now() OR spent_at < now() - interval ''1 minute'')', current_user);
    EXECUTE format('CREATE POLICY expired ON token_family TO %I USING (used_at < now() - interval ''31 days'')', current_user);
    EXECUTE format('CREATE POLICY expired ON pushed_request TO %I USING (expires_at < now())', current_user);
END $$;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE FUNCTION sweep_grants(at_most integer) RETURNS bigint LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    WITH codes AS (
        DELETE FROM authorization_code WHERE ctid = ANY (ARRAY(
            SELECT ctid FROM authorization_code WHERE expires_at < now() - interval '1 day' LIMIT at_most FOR UPDATE SKIP LOCKED))
        RETURNING 1),
    pushed AS (
        DELETE FROM pushed_request WHERE ctid = ANY (ARRAY(
            SELECT ctid FROM pushed_request WHERE expires_at < now() LIMIT at_most FOR UPDATE SKIP LOCKED))
        RETURNING 1),
    refreshes AS (
        DELETE FROM refresh_token WHERE ctid = ANY (ARRAY(
            SELECT ctid FROM refresh_token WHERE expires_at < now() LIMIT at_most FOR UPDATE SKIP LOCKED))
        RETURNING 1),
    successors AS (
        UPDATE refresh_token SET successor_sealed = NULL WHERE ctid = ANY (ARRAY(
            SELECT ctid FROM refresh_token
            WHERE successor_sealed IS NOT NULL AND spent_at < now() - interval '1 minute' AND expires_at >= now()
            LIMIT at_most FOR UPDATE SKIP LOCKED))
        RETURNING 1),
    families AS (
        DELETE FROM token_family WHERE ctid = ANY (ARRAY(
            SELECT ctid FROM token_family WHERE used_at < now() - interval '31 days' LIMIT at_most FOR UPDATE SKIP LOCKED))
        RETURNING 1)
    SELECT greatest((SELECT count(*) FROM codes), (SELECT count(*) FROM pushed), (SELECT count(*) FROM refreshes),
        (SELECT count(*) FROM successors), (SELECT count(*) FROM families))
$$;
-- +goose StatementEnd
REVOKE ALL ON FUNCTION sweep_grants FROM PUBLIC;

-- +goose StatementBegin
DO $$
DECLARE service text := current_setting('app.service_role');
BEGIN
    EXECUTE format('GRANT SELECT, INSERT, UPDATE ON token_family TO %I', service);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON authorization_code TO %I', service);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE ON refresh_token TO %I', service);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON consent TO %I', service);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON pushed_request TO %I', service);
    EXECUTE format('GRANT EXECUTE ON FUNCTION sweep_grants TO %I', service);
END $$;
-- +goose StatementEnd
