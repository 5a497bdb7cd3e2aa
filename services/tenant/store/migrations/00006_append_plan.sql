-- +goose Up
-- append_audit as it was, but that it asks for each entry by itself whether it is recorded, and makes its plans anew each time,
-- which is little for so many entries at once. Asked for all at once, PostgreSQL read all records of a tenant instead, for each
-- delivery, for as long as it had no figures of the table: after an import into a new database, until somebody analyzed it.
-- And a session that made its plans while there were next to no records went on by them.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION append_audit(
    ids uuid[], instants timestamptz[], tenants uuid[], actor_types text[], actor_ids text[], credential_ids text[],
    actions text[], trace_ids text[], patient_ids bigint[], outcomes text[]
) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp SET plan_cache_mode = force_custom_plan AS $$
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
        IF EXISTS (SELECT FROM unnest(given.ids) AS one (id) WHERE (SELECT true FROM audit_record WHERE tenant_id = given.tenant_id AND entry_id = one.id))
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
