-- +goose Up
-- While an import is under way nothing of its key is swept: one that is repeated shortly before the key expires would find some of
-- its lines forgotten, and store them once more. So the sweep has to see which imports are under way.
-- +goose StatementBegin
DO $$ BEGIN
    EXECUTE format('CREATE POLICY under_way ON patient_import_run FOR SELECT TO %I USING (true)', current_user);
END $$;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION sweep_idempotency_keys(at_most integer) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    gone  bigint := 0;
    swept bigint;
BEGIN
    DELETE FROM patient_import WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM patient_import line WHERE created_at < now() - interval '24 hours'
        AND NOT EXISTS (
            SELECT FROM patient_import_run run
            WHERE (run.tenant_id, run.credential_id, run.key) = (line.tenant_id, line.credential_id, line.key) AND run.until > now())
        ORDER BY created_at LIMIT at_most FOR UPDATE SKIP LOCKED));
    GET DIAGNOSTICS swept = ROW_COUNT;
    gone := gone + swept;
    DELETE FROM patient_import_run WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM patient_import_run WHERE until < now() - interval '24 hours'
        ORDER BY until LIMIT at_most - gone FOR UPDATE SKIP LOCKED));
    GET DIAGNOSTICS swept = ROW_COUNT;
    gone := gone + swept;
    DELETE FROM idempotency_key WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM idempotency_key WHERE created_at < now() - interval '24 hours'
        ORDER BY created_at LIMIT at_most - gone FOR UPDATE SKIP LOCKED));
    GET DIAGNOSTICS swept = ROW_COUNT;
    RETURN gone + swept;
END
$$;
-- +goose StatementEnd
