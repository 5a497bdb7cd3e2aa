-- +goose Up
-- Whether more than a password stands behind a family, and the code that it begins with, so that a tenant can come to
-- require that. What does not say so, such as what there was before, is weak.
ALTER TABLE token_family ADD COLUMN strong boolean NOT NULL DEFAULT false;
ALTER TABLE authorization_code ADD COLUMN strong boolean NOT NULL DEFAULT false;
ALTER TABLE launch_code ADD COLUMN strong boolean NOT NULL DEFAULT false;
