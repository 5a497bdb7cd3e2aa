-- +goose NO TRANSACTION
-- +goose Up
-- Made while others write. One that broke off is there and not used: hence it is dropped first. It stands in nobody's way
-- while it waits for older transactions to end, a backup's too.
SET lock_timeout = 0;
DROP INDEX CONCURRENTLY IF EXISTS patient_moved;
CREATE INDEX CONCURRENTLY patient_moved ON patient (tenant_id, moved) WHERE moved IS NOT NULL;
DROP INDEX CONCURRENTLY IF EXISTS patient_address_moved;
CREATE INDEX CONCURRENTLY patient_address_moved ON patient_address (tenant_id, moved) WHERE moved IS NOT NULL;
DROP INDEX CONCURRENTLY IF EXISTS patient_contact_moved;
CREATE INDEX CONCURRENTLY patient_contact_moved ON patient_contact (tenant_id, moved) WHERE moved IS NOT NULL;
DROP INDEX CONCURRENTLY IF EXISTS patient_alias_moved;
CREATE INDEX CONCURRENTLY patient_alias_moved ON patient_alias (tenant_id, moved) WHERE moved IS NOT NULL;
DROP INDEX CONCURRENTLY IF EXISTS patient_identifier_moved;
CREATE INDEX CONCURRENTLY patient_identifier_moved ON patient_identifier (tenant_id, moved) WHERE moved IS NOT NULL;
RESET lock_timeout;
