-- +goose Up
-- An application is for the users of one tenant, or, without a tenant, of all: its id alone names it.
ALTER TABLE external_application DROP CONSTRAINT external_application_pkey;
ALTER TABLE external_application ADD PRIMARY KEY (id);
ALTER TABLE external_application ALTER COLUMN tenant_id DROP NOT NULL;
CREATE INDEX external_application_tenant ON external_application (tenant_id, id);

-- A request that stands in a tenant sees what every tenant may launch, besides the tenant's own (policy tenant), and one
-- that names an application sees that. Multi-tenant administrators make, list and delete the applications of all
-- tenants and of none; the queries that do so say it.
CREATE POLICY everybody ON external_application FOR SELECT
    USING (tenant_id IS NULL AND nullif(current_setting('app.tenant_id', true), '') IS NOT NULL);
CREATE POLICY itself ON external_application FOR SELECT USING (id = nullif(current_setting('app.credential_id', true), '')::uuid);
CREATE POLICY administrator ON external_application USING (current_setting('app.administrator', true) = 'on');

-- The code that a launch carries to the application. It is presented before anybody knows the tenant: it is found by
-- its hash (app.session). failures counts wrong signatures.
CREATE TABLE launch_code (
    hash           bytea       PRIMARY KEY,
    tenant_id      uuid        NOT NULL,
    user_id        uuid        NOT NULL,
    application_id uuid        NOT NULL,
    environment    text        NOT NULL,
    failures       integer     NOT NULL DEFAULT 0,
    created_at     timestamptz NOT NULL,
    expires_at     timestamptz NOT NULL,
    spent_at       timestamptz
);
CREATE INDEX launch_code_expiry ON launch_code (expires_at);

ALTER TABLE launch_code ENABLE ROW LEVEL SECURITY;
ALTER TABLE launch_code FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON launch_code USING (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
CREATE POLICY itself ON launch_code USING (encode(hash, 'hex') = current_setting('app.session', true));

-- The sweep, as for access tokens.
-- +goose StatementBegin
DO $$ BEGIN
    EXECUTE format('CREATE POLICY expired ON launch_code TO %I USING (expires_at < now())', current_user);
END $$;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE FUNCTION sweep_launch_codes(at_most integer) RETURNS bigint LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    WITH gone AS (
        DELETE FROM launch_code WHERE ctid = ANY (ARRAY(
            SELECT ctid FROM launch_code WHERE expires_at < now()
            ORDER BY expires_at LIMIT at_most FOR UPDATE SKIP LOCKED))
        RETURNING 1)
    SELECT count(*) FROM gone
$$;
-- +goose StatementEnd
REVOKE ALL ON FUNCTION sweep_launch_codes FROM PUBLIC;

-- +goose StatementBegin
DO $$
DECLARE service text := current_setting('app.service_role');
BEGIN
    EXECUTE format('GRANT DELETE ON external_application TO %I', service);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE ON launch_code TO %I', service);
    EXECUTE format('GRANT EXECUTE ON FUNCTION sweep_launch_codes TO %I', service);
END $$;
-- +goose StatementEnd
