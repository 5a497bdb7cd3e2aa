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
-- itself may write none, change none and remove none. Every read of a patient passes here, so what can be done for many
-- entries at once is: the loop over entries only makes hashes, each of which needs the one before it.
-- +goose StatementBegin
CREATE FUNCTION append_audit(
    ids uuid[], instants timestamptz[], tenants uuid[], actor_types text[], actor_ids text[], credential_ids text[],
    actions text[], trace_ids text[], patient_ids bigint[], outcomes text[]
) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    head    audit_head;
    given   record;
    said    text;
    new_id  uuid;
    n       integer;
    added   bigint := 0;
    now_ms  bigint := floor(extract(epoch FROM clock_timestamp()) * 1000);
    new_ids uuid[];
    hashes  bytea[];
BEGIN
    FOR given IN -- by tenant, so that two who append lock heads in one order
        SELECT tenant_id, array_agg(id) AS ids, array_agg(at) AS instants, array_agg(actor_type) AS actor_types,
            array_agg(actor_id) AS actor_ids, array_agg(credential_id) AS credential_ids, array_agg(action) AS actions,
            array_agg(trace_id) AS trace_ids, array_agg(patient_id) AS patient_ids, array_agg(outcome) AS outcomes
        FROM (
            SELECT * FROM unnest(ids, instants, tenants, actor_types, actor_ids, credential_ids, actions, trace_ids, patient_ids, outcomes)
                WITH ORDINALITY AS e (id, at, tenant_id, actor_type, actor_id, credential_id, action, trace_id, patient_id, outcome, place)
            ORDER BY tenant_id, place
        ) AS sorted GROUP BY tenant_id ORDER BY tenant_id
    LOOP
        PERFORM set_config('app.tenant_id', given.tenant_id::text, true);
        SELECT * INTO head FROM audit_head WHERE tenant_id = given.tenant_id FOR UPDATE;
        IF NOT FOUND THEN
            INSERT INTO audit_head VALUES (given.tenant_id, 0, 0, decode(repeat('00', 32), 'hex')) ON CONFLICT DO NOTHING;
            SELECT * INTO STRICT head FROM audit_head WHERE tenant_id = given.tenant_id FOR UPDATE;
        END IF;
        -- Now that the head is ours, what is recorded stays so. A relay that did not hear our answer comes again.
        IF EXISTS (SELECT FROM audit_record WHERE tenant_id = given.tenant_id AND entry_id = ANY (given.ids))
            OR (SELECT count(DISTINCT id) < count(*) FROM unnest(given.ids) AS id)
        THEN
            SELECT given.tenant_id AS tenant_id, array_agg(id) AS ids, array_agg(at) AS instants, array_agg(actor_type) AS actor_types,
                array_agg(actor_id) AS actor_ids, array_agg(credential_id) AS credential_ids, array_agg(action) AS actions,
                array_agg(trace_id) AS trace_ids, array_agg(patient_id) AS patient_ids, array_agg(outcome) AS outcomes
            INTO given
            FROM (
                SELECT * FROM unnest(given.ids, given.instants, given.actor_types, given.actor_ids, given.credential_ids, given.actions,
                    given.trace_ids, given.patient_ids, given.outcomes) WITH ORDINALITY
                    AS e (id, at, actor_type, actor_id, credential_id, action, trace_id, patient_id, outcome, place)
                WHERE NOT EXISTS (SELECT FROM audit_record AS r WHERE r.tenant_id = given.tenant_id AND r.entry_id = e.id)
                    AND e.id <> ALL (given.ids[:place - 1])
                ORDER BY place
            ) AS fresh;
            CONTINUE WHEN given.ids IS NULL;
        END IF;
        head.last_ms := greatest(head.last_ms, now_ms);
        n := 0;
        new_ids := '{}';
        hashes := '{}';
        hashes[0] := head.hash;
        FOR new_id, said IN
            SELECT audit_record_id(head.last_ms, head.records + place),
                audit_part(to_char(at::timestamptz(3) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
                || audit_part(given.tenant_id::text) || audit_part(actor_type) || audit_part(actor_id) || audit_part(credential_id)
                || audit_part(action) || audit_part(coalesce(patient_id::text, '')) || audit_part(outcome) || audit_part(trace_id)
            FROM unnest(given.instants, given.actor_types, given.actor_ids, given.credential_ids, given.actions, given.trace_ids,
                given.patient_ids, given.outcomes) WITH ORDINALITY AS e (at, actor_type, actor_id, credential_id, action, trace_id, patient_id, outcome, place)
        LOOP
            n := n + 1;
            new_ids[n] := new_id;
            -- A hash has 64 digits, an id 36.
            hashes[n] := sha256(convert_to('64:' || encode(hashes[n - 1], 'hex') || ',36:' || new_id::text || ',' || said, 'UTF8'));
        END LOOP;
        INSERT INTO audit_record
            SELECT given.tenant_id, head.records + place, e.new_id, id, at, actor_type, actor_id, credential_id, action, patient_id, outcome,
                trace_id, previous, hash
            FROM unnest(new_ids, given.ids, given.instants, given.actor_types, given.actor_ids, given.credential_ids, given.actions,
                given.patient_ids, given.outcomes, given.trace_ids, hashes[:n - 1], hashes[1:n]) WITH ORDINALITY
                AS e (new_id, id, at, actor_type, actor_id, credential_id, action, patient_id, outcome, trace_id, previous, hash, place);
        UPDATE audit_head SET records = head.records + n, last_ms = head.last_ms, hash = hashes[n] WHERE tenant_id = given.tenant_id;
        added := added + n;
    END LOOP;
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
