-- +goose Up
-- What an organization agrees to before production data of patients is used. The text belongs to no tenant; migrations
-- alone bring a new version, which is in effect from its instant on and is then to be accepted anew. A version that was
-- accepted is never changed.
CREATE TABLE agreement (
    id           uuid        PRIMARY KEY,
    version      integer     NOT NULL UNIQUE,
    title        text        NOT NULL,
    text         text        NOT NULL,
    effective_at timestamptz NOT NULL
);

-- Who accepted for the tenant: the person where one stood behind the credential, and the credential in any case. An
-- acceptance is never changed and never removed. It takes the place of tenant.agreement_accepted_at, which stays while
-- the release before this one may still read it.
CREATE TABLE agreement_acceptance (
    tenant_id       uuid        NOT NULL REFERENCES tenant (id),
    agreement_id    uuid        NOT NULL REFERENCES agreement (id),
    user_id         uuid,
    credential_kind text        NOT NULL,
    credential_id   text        NOT NULL,
    accepted_at     timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, agreement_id)
);

ALTER TABLE agreement_acceptance ENABLE ROW LEVEL SECURITY;
ALTER TABLE agreement_acceptance FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON agreement_acceptance USING (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
CREATE POLICY member ON agreement_acceptance FOR SELECT USING (EXISTS (
    SELECT FROM membership m
    WHERE m.tenant_id = agreement_acceptance.tenant_id AND m.user_id = nullif(current_setting('app.user_id', true), '')::uuid));

-- +goose StatementBegin
INSERT INTO agreement (id, version, title, effective_at, text) VALUES
('01900000-0000-7000-8000-000000000101', 1, 'Business Associate Agreement', '2025-01-01T00:00:00Z', $text$BUSINESS ASSOCIATE AGREEMENT

This agreement is between the organization that accepts it ("you", the covered entity, or a business associate of one) and the operator of this patient record service ("we", your business associate, or its subcontractor). It applies whenever we create, receive, maintain or transmit protected health information for you. Words that the rules on privacy, security, breach notification and enforcement at 45 CFR Parts 160 and 164 (the "HIPAA Rules") define mean here what they mean there. "PHI" is the protected health information that we handle on your behalf.

1. WHAT WE MAY DO WITH PHI
We use and disclose PHI only to provide the service to you, as this agreement permits, or as the law requires. We may also use it for our own proper management and administration and to carry out our legal responsibilities. For these purposes we may disclose it where the law requires that, or where the recipient assures us in writing that it will be kept confidential, used only for the purpose of the disclosure, and that any breach of its confidentiality will be reported to us. We do not sell PHI, do not use it for marketing or advertising, and do not use it to train models or develop products. We do not de-identify it or combine it with the data of others unless you instruct us to in writing.

2. MINIMUM NECESSARY
We limit our uses, disclosures and requests to the minimum that the purpose needs. Our staff has no standing access to PHI. Access for support is given to a named person, for a stated reason and for a limited time, and is recorded.

3. SAFEGUARDS
We maintain administrative, physical and technical safeguards that protect the confidentiality, integrity and availability of PHI, and comply with Subpart C of 45 CFR Part 164 for electronic PHI. These include encryption in transit and at rest, separation of the data of different organizations, individual credentials, a record of every access that shows when it was altered, tested backups, and regular assessment of risks.

4. SUBCONTRACTORS
A subcontractor that creates, receives, maintains or transmits PHI for us first agrees in writing to restrictions and conditions at least as strict as these. We remain responsible for what our subcontractors do.

5. REPORTING
We report to you any use or disclosure of PHI that this agreement does not provide for, any security incident, and any breach of unsecured PHI, without unreasonable delay and no later than five business days after we discover it. The report tells what happened and when, whose information and what kinds of it are concerned as far as we know, what we are doing about it, and what the individuals should do; what we learn later follows at once. Attempts without success, such as pings and refused sign-ins, are hereby reported, and need no further notice. We bear the reasonable cost of the notifications that a breach on our side makes necessary.

6. RIGHTS OF INDIVIDUALS
Within ten days of your request we make PHI in a designated record set available to you for access (45 CFR 164.524), make or enable amendments to it (164.526), and give you the information that you need for an accounting of disclosures (164.528). An individual's request that reaches us we forward to you within five business days.

7. BOOKS AND RECORDS
We make our internal practices, books and records on the use and disclosure of PHI available to the Secretary of Health and Human Services for determining compliance with the HIPAA Rules, and to you on reasonable request. Where we carry out an obligation of yours under Subpart E of 45 CFR Part 164, we comply with the requirements that apply to you.

8. WHAT YOU DO
You ask us for nothing that the HIPAA Rules would forbid you. You obtain the consents and authorizations that your use of the service needs, and tell us of restrictions, revocations and changes in your notice of privacy practices that affect what we may do. You give credentials only to people and programs that need them, with the least permission that will do, keep them secret, require a second factor where you can, and take access away at once when it is not needed any more.

9. TERM AND TERMINATION
This agreement takes effect when you accept it and lasts as long as we hold PHI. Either of us may end it, and the use of the service, when the other breaks a material term and does not cure that within thirty days of written notice, or at once where cure is not possible. When it ends, you have thirty days to export your records. After that we return or destroy all PHI, backups included, within ninety days, and confirm it in writing. PHI that cannot be returned or destroyed stays protected by this agreement, and is used for nothing but what makes its return or destruction infeasible.

10. GENERAL
Ambiguities are resolved so that both of us can comply with the HIPAA Rules. Where they change, we amend this agreement as they require: a new version is shown to you and is to be accepted before patient data is used further. This agreement prevails over other terms between us where they conflict about PHI. Whoever accepts it declares to have the authority to bind the organization.
$text$);
-- +goose StatementEnd

-- +goose StatementBegin
DO $$
DECLARE service text := current_setting('app.service_role');
BEGIN
    EXECUTE format('GRANT SELECT ON agreement TO %I', service);
    EXECUTE format('GRANT SELECT, INSERT ON agreement_acceptance TO %I', service);
END $$;
-- +goose StatementEnd
