-- +goose Up
-- What hangs on a patient. A child is never removed, only deactivated; its tables name the patient but do not refer to
-- it, since every statement asks for a patient that is not deleted.
CREATE TABLE patient_address (
    tenant_id      uuid        NOT NULL,
    patient_id     bigint      NOT NULL,
    id             uuid        NOT NULL,
    version        bigint      NOT NULL,
    created_at     timestamptz NOT NULL,
    updated_at     timestamptz NOT NULL,
    deactivated_at timestamptz,
    line1          text        NOT NULL,
    line2          text        NOT NULL,
    city           text        NOT NULL,
    state          text        NOT NULL,
    postal_code    text        NOT NULL,
    country        text        NOT NULL,
    use            text        NOT NULL,
    PRIMARY KEY (tenant_id, patient_id, id)
) WITH (fillfactor = 90);

CREATE TABLE patient_contact (
    tenant_id      uuid        NOT NULL,
    patient_id     bigint      NOT NULL,
    id             uuid        NOT NULL,
    version        bigint      NOT NULL,
    created_at     timestamptz NOT NULL,
    updated_at     timestamptz NOT NULL,
    deactivated_at timestamptz,
    system         text        NOT NULL,
    value          text        NOT NULL,
    e164           text        NOT NULL,
    use            text        NOT NULL,
    PRIMARY KEY (tenant_id, patient_id, id)
) WITH (fillfactor = 90);

-- holds_from and holds_until are the bounds as they were given, a date or an instant, empty where open; holds is what
-- they mean, to compare with.
CREATE TABLE patient_alias (
    tenant_id      uuid        NOT NULL,
    patient_id     bigint      NOT NULL,
    id             uuid        NOT NULL,
    version        bigint      NOT NULL,
    created_at     timestamptz NOT NULL,
    updated_at     timestamptz NOT NULL,
    deactivated_at timestamptz,
    type           text        NOT NULL,
    alias          text        NOT NULL,
    first_name     text        NOT NULL,
    last_name      text        NOT NULL,
    full_name      text        NOT NULL,
    holds_from     text        NOT NULL,
    holds_until    text        NOT NULL,
    holds          tstzrange   NOT NULL,
    PRIMARY KEY (tenant_id, patient_id, id)
) WITH (fillfactor = 90);

CREATE TABLE patient_identifier (
    tenant_id                      uuid        NOT NULL,
    patient_id                     bigint      NOT NULL,
    id                             uuid        NOT NULL,
    version                        bigint      NOT NULL,
    created_at                     timestamptz NOT NULL,
    updated_at                     timestamptz NOT NULL,
    deactivated_at                 timestamptz,
    type                           text        NOT NULL,
    value                          text        NOT NULL,
    authority_organization_id      text        NOT NULL,
    authority_organization_name    text        NOT NULL,
    authority_external_system_id   text        NOT NULL,
    authority_external_system_name text        NOT NULL,
    source_name                    text        NOT NULL,
    holds_from                     text        NOT NULL,
    holds_until                    text        NOT NULL,
    holds                          tstzrange   NOT NULL,
    PRIMARY KEY (tenant_id, patient_id, id)
) WITH (fillfactor = 90);

ALTER TABLE patient_address ENABLE ROW LEVEL SECURITY;
ALTER TABLE patient_address FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON patient_address USING (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);

ALTER TABLE patient_contact ENABLE ROW LEVEL SECURITY;
ALTER TABLE patient_contact FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON patient_contact USING (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);

ALTER TABLE patient_alias ENABLE ROW LEVEL SECURITY;
ALTER TABLE patient_alias FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON patient_alias USING (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);

ALTER TABLE patient_identifier ENABLE ROW LEVEL SECURITY;
ALTER TABLE patient_identifier FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON patient_identifier USING (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);

-- +goose StatementBegin
DO $$
DECLARE service text := current_setting('app.service_role');
BEGIN
    EXECUTE format('GRANT SELECT, INSERT, UPDATE ON patient_address, patient_contact, patient_alias, patient_identifier TO %I', service);
END $$;
-- +goose StatementEnd
