-- +goose Up
-- moved is the transaction that wrote a row last. What is told to those who keep a copy, such as matching, is found by
-- it: exactly the rows whose transaction the snapshot of the time before could not see. A child has its own, so that
-- writing one neither rewrites its patient nor waits for others who write to the same patient. Rows from before this
-- have none, and need none: whoever has no position yet is told all. The default is set apart, since adding it with the
-- column would give it to all rows.
ALTER TABLE patient ADD COLUMN moved xid8;
ALTER TABLE patient_address ADD COLUMN moved xid8;
ALTER TABLE patient_contact ADD COLUMN moved xid8;
ALTER TABLE patient_alias ADD COLUMN moved xid8;
ALTER TABLE patient_identifier ADD COLUMN moved xid8;
ALTER TABLE patient ALTER COLUMN moved SET DEFAULT pg_current_xact_id();
ALTER TABLE patient_address ALTER COLUMN moved SET DEFAULT pg_current_xact_id();
ALTER TABLE patient_contact ALTER COLUMN moved SET DEFAULT pg_current_xact_id();
ALTER TABLE patient_alias ALTER COLUMN moved SET DEFAULT pg_current_xact_id();
ALTER TABLE patient_identifier ALTER COLUMN moved SET DEFAULT pg_current_xact_id();

-- Whoever changes a row, the release before this one too, does not have to think of it.
-- +goose StatementBegin
CREATE FUNCTION moved() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    NEW.moved := pg_current_xact_id();
    RETURN NEW;
END $$;
-- +goose StatementEnd
CREATE TRIGGER moved BEFORE UPDATE ON patient FOR EACH ROW EXECUTE FUNCTION moved();
CREATE TRIGGER moved BEFORE UPDATE ON patient_address FOR EACH ROW EXECUTE FUNCTION moved();
CREATE TRIGGER moved BEFORE UPDATE ON patient_contact FOR EACH ROW EXECUTE FUNCTION moved();
CREATE TRIGGER moved BEFORE UPDATE ON patient_alias FOR EACH ROW EXECUTE FUNCTION moved();
CREATE TRIGGER moved BEFORE UPDATE ON patient_identifier FOR EACH ROW EXECUTE FUNCTION moved();

-- Positions are worth something only where transactions are numbered on from them. After a crash numbers that never
-- reached the log are given once more, a standby that is promoted may lack the last ones, and a restored dump begins
-- anew. In the first two cases PostgreSQL empties unlogged tables, and in the third a row gets another xmin (and a copy
-- of a database another oid): so the one row here names the stretch of time in which positions hold. Whoever finds none
-- makes one. Only a server whose files are replaced by older ones, copied while it was shut down, tells nothing: there
-- matching has to be started anew.
CREATE UNLOGGED TABLE feed_epoch (
    single boolean PRIMARY KEY DEFAULT true CHECK (single),
    id     uuid    NOT NULL DEFAULT gen_random_uuid()
);

-- +goose StatementBegin
DO $$
DECLARE service text := current_setting('app.service_role');
BEGIN
    EXECUTE format('GRANT SELECT, INSERT ON feed_epoch TO %I', service);
END $$;
-- +goose StatementEnd
