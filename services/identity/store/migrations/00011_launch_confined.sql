-- +goose Up
-- A launch stays in its tenant if the session that launches does. What does not say so stays.
ALTER TABLE launch_code ADD COLUMN confined boolean NOT NULL DEFAULT true;
