-- +goose Up
-- The trail of who did what, a chain of hashes for each tenant (libs/audit says of what each is made). seq numbers a
-- tenant's records from 1 without a gap. entry_id is the id that the entry had in the service that wrote it, which may
-- deliver it twice. id grows with seq, whatever the clocks of the services say.
CREATE TABLE audit_record (
    tenant_id     uuid           NOT NULL,
    seq           bigint         NOT NULL,
    id            uuid           NOT NULL,
    entry_id      uuid           NOT NULL,
    at            timestamptz(3) NOT NULL,
    actor_type    text           NOT NULL,
    actor_id      text           NOT NULL,
    credential_id text           NOT NULL,
    action        text           NOT NULL,
    patient_id    bigint,
    outcome       text           NOT NULL,
    trace_id      text           NOT NULL,
    previous_hash bytea          NOT NULL,
    hash          bytea          NOT NULL,
    PRIMARY KEY (tenant_id, seq),
    CONSTRAINT audit_record_entry UNIQUE (tenant_id, entry_id)
);
CREATE INDEX audit_record_patient ON audit_record (tenant_id, patient_id, seq) WHERE patient_id IS NOT NULL;
CREATE INDEX audit_record_actor ON audit_record (tenant_id, actor_id, seq);
CREATE INDEX audit_record_action ON audit_record (tenant_id, action, seq);
CREATE INDEX audit_record_at ON audit_record (tenant_id, at, seq);

-- Where each chain ends. What the list says is held against it, so that a record removed at the end shows too.
CREATE TABLE audit_head (
    tenant_id uuid   PRIMARY KEY,
    records   bigint NOT NULL,
    last_ms   bigint NOT NULL, -- of the last record's id
    hash      bytea  NOT NULL
);

ALTER TABLE audit_record ENABLE ROW LEVEL SECURITY;
ALTER TABLE audit_record FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON audit_record USING (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);

ALTER TABLE audit_head ENABLE ROW LEVEL SECURITY;
ALTER TABLE audit_head FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON audit_head USING (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);

-- What is hashed is UTF-8, so the database has to be.
-- +goose StatementBegin
DO $$ BEGIN
    IF current_setting('server_encoding') <> 'UTF8' THEN RAISE EXCEPTION 'the database must be encoded in UTF8'; END IF;
END $$;
-- +goose StatementEnd

-- One part of what is hashed.
CREATE FUNCTION audit_part(part text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT octet_length(part)::text || ':' || part || ','
$$;

-- Ids are UUIDs of version 7 (RFC 9562 §6.2, method 1): the milliseconds, then 42 bits of seq, then 32 of chance.
CREATE FUNCTION audit_record_id(ms bigint, seq bigint) RETURNS uuid LANGUAGE sql VOLATILE AS $$
    SELECT (lpad(to_hex(ms), 12, '0') || '7' || lpad(to_hex((seq >> 30) & 4095), 3, '0')
        || to_hex((-9223372036854775807 - 1) | ((seq & 1073741823) << 32) | floor(random() * 4294967296)::bigint))::uuid
$$;

-- Appends entries to their tenants' chains in the order in which they stand, each once. Of those who append to one
-- chain one waits for the other; nobody else does. It is the owner's, and the only way to write a record: the service
-- itself may write none, change none and remove none.
-- +goose StatementBegin
CREATE FUNCTION append_audit(
    ids uuid[], instants timestamptz[], tenants uuid[], actor_types text[], actor_ids text[], credential_ids text[],
    actions text[], trace_ids text[], patient_ids bigint[], outcomes text[]
) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    head     audit_head;
    e        record;
    added    bigint := 0;
    now_ms   bigint := floor(extract(epoch FROM clock_timestamp()) * 1000);
    new_id   uuid;
    new_hash bytea;
BEGIN
    FOR e IN -- by tenant, so that two who append lock heads in one order
        SELECT * FROM unnest(ids, instants, tenants, actor_types, actor_ids, credential_ids, actions, trace_ids, patient_ids, outcomes)
            WITH ORDINALITY AS given (id, at, tenant_id, actor_type, actor_id, credential_id, action, trace_id, patient_id, outcome, place)
        ORDER BY tenant_id, place
    LOOP
        IF head.tenant_id IS DISTINCT FROM e.tenant_id THEN
            UPDATE audit_head SET records = head.records, last_ms = head.last_ms, hash = head.hash WHERE tenant_id = head.tenant_id;
            PERFORM set_config('app.tenant_id', e.tenant_id::text, true);
            INSERT INTO audit_head VALUES (e.tenant_id, 0, 0, decode(repeat('00', 32), 'hex')) ON CONFLICT DO NOTHING;
            SELECT * INTO STRICT head FROM audit_head WHERE tenant_id = e.tenant_id FOR UPDATE;
        END IF;
        head.last_ms := greatest(head.last_ms, now_ms);
        new_id := audit_record_id(head.last_ms, head.records + 1);
        new_hash := sha256(convert_to(
            audit_part(encode(head.hash, 'hex')) || audit_part(new_id::text)
            || audit_part(to_char(e.at::timestamptz(3) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
            || audit_part(e.tenant_id::text) || audit_part(e.actor_type) || audit_part(e.actor_id) || audit_part(e.credential_id)
            || audit_part(e.action) || audit_part(coalesce(e.patient_id::text, '')) || audit_part(e.outcome) || audit_part(e.trace_id), 'UTF8'));
        INSERT INTO audit_record VALUES (
            e.tenant_id, head.records + 1, new_id, e.id, e.at, e.actor_type, e.actor_id, e.credential_id, e.action,
            e.patient_id, e.outcome, e.trace_id, head.hash, new_hash)
        ON CONFLICT ON CONSTRAINT audit_record_entry DO NOTHING;
        IF FOUND THEN
            head.records := head.records + 1;
            head.hash := new_hash;
            added := added + 1;
        END IF;
    END LOOP;
    UPDATE audit_head SET records = head.records, last_ms = head.last_ms, hash = head.hash WHERE tenant_id = head.tenant_id;
    RETURN added;
END
$$;
-- +goose StatementEnd
REVOKE ALL ON FUNCTION append_audit FROM PUBLIC;

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

-- +goose StatementBegin
DO $$
DECLARE service text := current_setting('app.service_role');
BEGIN
    EXECUTE format('GRANT SELECT ON audit_record, audit_head TO %I', service);
    EXECUTE format('GRANT EXECUTE ON FUNCTION append_audit TO %I', service);
    EXECUTE format('GRANT SELECT, INSERT, DELETE ON audit_entry TO %I', service);
    EXECUTE format('GRANT SELECT, UPDATE ON audit_lease TO %I', service);
END $$;
-- +goose StatementEnd
