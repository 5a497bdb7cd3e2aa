-- +goose Up
-- Whether a family, and the code that it begins with, stays in its tenant: nothing but that tenant's own provider, or a
-- launch in that tenant, stands behind it. What does not say so, such as what there was before, stays.
ALTER TABLE token_family ADD COLUMN confined boolean NOT NULL DEFAULT true;
ALTER TABLE authorization_code ADD COLUMN confined boolean NOT NULL DEFAULT true;
