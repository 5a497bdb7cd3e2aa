-- +goose Up
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

-- Which tenants were asked about, so that a process that starts loads those before it says that it is ready. It holds
-- ids and times alone and is read for all tenants at once, hence no row-level security.
CREATE TABLE index_use (
    tenant_id uuid        PRIMARY KEY,
    used_at   timestamptz NOT NULL DEFAULT now()
);

-- +goose StatementBegin
DO $$
DECLARE service text := current_setting('app.service_role');
BEGIN
    EXECUTE format('GRANT SELECT, INSERT, DELETE ON audit_entry TO %I', service);
    EXECUTE format('GRANT SELECT, UPDATE ON audit_lease TO %I', service);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON index_use TO %I', service);
END $$;
-- +goose StatementEnd
