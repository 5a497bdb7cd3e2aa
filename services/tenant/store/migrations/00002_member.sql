-- +goose Up
-- A user asks for all of their own memberships before any tenant is chosen: row-level security admits, besides the
-- tenant's rows, the user's own (app.user_id), and of tenants those that the user is a member of. To read only.
CREATE INDEX membership_user ON membership (user_id, tenant_id);
CREATE POLICY own ON membership FOR SELECT USING (user_id = nullif(current_setting('app.user_id', true), '')::uuid);
CREATE POLICY member ON tenant FOR SELECT USING (EXISTS (
    SELECT FROM membership m
    WHERE m.tenant_id = tenant.id AND m.user_id = nullif(current_setting('app.user_id', true), '')::uuid));
