-- +goose Up
CREATE TABLE tenant (
    id                    uuid        PRIMARY KEY,
    name                  text        NOT NULL,
    plan                  text        NOT NULL CHECK (plan IN ('free', 'standard')),
    environment           text        NOT NULL CHECK (environment IN ('demo', 'production')),
    mfa_required          boolean     NOT NULL DEFAULT false,
    agreement_accepted_at timestamptz,
    created_at            timestamptz NOT NULL
);

-- A member's roles are always read and written together, so they live in one row. user_id is identity's.
CREATE TABLE membership (
    tenant_id  uuid        NOT NULL REFERENCES tenant (id),
    user_id    uuid        NOT NULL,
    role_ids   uuid[]      NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, user_id)
);

-- Roles are the same for all tenants; the service may only read them.
CREATE TABLE role (
    id          uuid   PRIMARY KEY,
    name        text   NOT NULL UNIQUE,
    description text   NOT NULL,
    permissions text[] NOT NULL
);

INSERT INTO role (id, name, description, permissions) VALUES
('01900000-0000-7000-8000-000000000001', 'Owner', 'Everything in the organization.',
    '{patient:read,patient:write,patient:delete,patient:restore,document:read,document:write,match:read,tenant:read,tenant:admin,key:manage,user:manage,audit:read}'),
('01900000-0000-7000-8000-000000000002', 'Clinician', 'Cares for patients: reads, writes and finds records and documents.',
    '{patient:read,patient:write,document:read,document:write,match:read,tenant:read}'),
('01900000-0000-7000-8000-000000000003', 'Records Writer', 'Keeps the records: also deletes and restores them.',
    '{patient:read,patient:write,patient:delete,patient:restore,document:read,document:write,match:read,tenant:read}'),
('01900000-0000-7000-8000-000000000004', 'Records Reader', 'Reads records and documents.',
    '{patient:read,document:read,tenant:read}'),
('01900000-0000-7000-8000-000000000005', 'Matcher', 'Finds and reads patients.',
    '{patient:read,match:read,tenant:read}'),
('01900000-0000-7000-8000-000000000006', 'Auditor', 'Reads who did what.',
    '{audit:read,tenant:read}'),
('01900000-0000-7000-8000-000000000007', 'Multi-tenant Administrator', 'Runs the mesh: clients, plans and people of all organizations, and no patient data.',
    '{tenant:read,tenant:admin,key:manage,user:manage,audit:read,client:manage}');

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

ALTER TABLE tenant ENABLE ROW LEVEL SECURITY;
ALTER TABLE tenant FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON tenant USING (id = nullif(current_setting('app.tenant_id', true), '')::uuid);

ALTER TABLE membership ENABLE ROW LEVEL SECURITY;
ALTER TABLE membership FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON membership USING (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);

-- +goose StatementBegin
DO $$
DECLARE service text := current_setting('app.service_role');
BEGIN
    EXECUTE format('GRANT USAGE ON SCHEMA public TO %I', service);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE ON tenant TO %I', service);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON membership TO %I', service);
    EXECUTE format('GRANT SELECT ON role TO %I', service);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON outbox TO %I', service);
END $$;
-- +goose StatementEnd
