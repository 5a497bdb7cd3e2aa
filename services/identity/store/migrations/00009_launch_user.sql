-- +goose Up
-- A launch carries no more than the session that launched could do; what does not say so, such as a code of a moment ago,
-- carries nothing. A new password ends the launches that are under way, which are the user's (app.user_id).
ALTER TABLE launch_code ADD COLUMN scope text[] NOT NULL DEFAULT '{}';
CREATE INDEX launch_code_user ON launch_code (user_id);
CREATE POLICY owner ON launch_code USING (user_id = nullif(current_setting('app.user_id', true), '')::uuid);

-- +goose StatementBegin
DO $$
BEGIN
    EXECUTE format('GRANT DELETE ON launch_code TO %I', current_setting('app.service_role'));
END $$;
-- +goose StatementEnd
