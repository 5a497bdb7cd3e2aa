-- +goose Up
-- What belongs to a user and to no tenant is keyed by the user first, and row-level security holds it to the user that
-- the statement acts for (app.user_id). A secret that comes before anybody knows whose it is admits its own row, by the
-- hex of its hash (app.session).

-- One link of each purpose: a newer one takes the place of the older.
CREATE TABLE mailed_link (
    user_id    uuid        NOT NULL,
    purpose    text        NOT NULL CHECK (purpose IN ('verify', 'reset')),
    hash       bytea       NOT NULL,
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (user_id, purpose)
);
CREATE INDEX mailed_link_expiry ON mailed_link (expires_at);

-- A browser's session. hash is the cookie's.
CREATE TABLE sign_in (
    user_id    uuid        NOT NULL,
    id         uuid        NOT NULL,
    hash       bytea       NOT NULL,
    tenant_id  uuid,
    methods    text[]      NOT NULL,
    agent      text        NOT NULL,
    created_at timestamptz NOT NULL,
    seen_at    timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (user_id, id)
);
CREATE UNIQUE INDEX sign_in_hash ON sign_in (hash);
CREATE INDEX sign_in_expiry ON sign_in (expires_at);

-- A tenant asks an address once: a newer invitation takes the place of the older. It is found by the hash of its link.
CREATE TABLE invitation (
    tenant_id   uuid        NOT NULL,
    id          uuid        NOT NULL,
    email       text        NOT NULL,
    email_key   text        NOT NULL,
    role_ids    uuid[]      NOT NULL,
    environment text        NOT NULL,
    hash        bytea       NOT NULL,
    created_at  timestamptz NOT NULL,
    expires_at  timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, id),
    CONSTRAINT invitation_email UNIQUE (tenant_id, email_key)
);
CREATE UNIQUE INDEX invitation_hash ON invitation (hash);
CREATE INDEX invitation_expiry ON invitation (expires_at);

ALTER TABLE mailed_link ENABLE ROW LEVEL SECURITY;
ALTER TABLE mailed_link FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON mailed_link USING (user_id = nullif(current_setting('app.user_id', true), '')::uuid);

ALTER TABLE sign_in ENABLE ROW LEVEL SECURITY;
ALTER TABLE sign_in FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON sign_in USING (user_id = nullif(current_setting('app.user_id', true), '')::uuid);
CREATE POLICY itself ON sign_in FOR SELECT USING (encode(hash, 'hex') = current_setting('app.session', true));

ALTER TABLE invitation ENABLE ROW LEVEL SECURITY;
ALTER TABLE invitation FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON invitation USING (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
CREATE POLICY itself ON invitation FOR SELECT USING (encode(hash, 'hex') = current_setting('app.session', true));

-- What has expired is swept for all by a function of the owner's, who by these policies sees nothing else.
-- +goose StatementBegin
DO $$ BEGIN
    EXECUTE format('CREATE POLICY expired ON mailed_link TO %I USING (expires_at < now())', current_user);
    EXECUTE format('CREATE POLICY expired ON sign_in TO %I USING (expires_at < now())', current_user);
    EXECUTE format('CREATE POLICY expired ON invitation TO %I USING (expires_at < now())', current_user);
END $$;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE FUNCTION sweep_people(at_most integer) RETURNS bigint LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    WITH links AS (
        DELETE FROM mailed_link WHERE ctid = ANY (ARRAY(
            SELECT ctid FROM mailed_link WHERE expires_at < now() LIMIT at_most FOR UPDATE SKIP LOCKED))
        RETURNING 1),
    sessions AS (
        DELETE FROM sign_in WHERE ctid = ANY (ARRAY(
            SELECT ctid FROM sign_in WHERE expires_at < now() LIMIT at_most FOR UPDATE SKIP LOCKED))
        RETURNING 1),
    invitations AS (
        DELETE FROM invitation WHERE ctid = ANY (ARRAY(
            SELECT ctid FROM invitation WHERE expires_at < now() LIMIT at_most FOR UPDATE SKIP LOCKED))
        RETURNING 1)
    SELECT greatest((SELECT count(*) FROM links), (SELECT count(*) FROM sessions), (SELECT count(*) FROM invitations))
$$;
-- +goose StatementEnd
REVOKE ALL ON FUNCTION sweep_people FROM PUBLIC;

-- +goose StatementBegin
DO $$
DECLARE service text := current_setting('app.service_role');
BEGIN
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON mailed_link TO %I', service);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON sign_in TO %I', service);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON invitation TO %I', service);
    EXECUTE format('GRANT EXECUTE ON FUNCTION sweep_people TO %I', service);
END $$;
-- +goose StatementEnd
