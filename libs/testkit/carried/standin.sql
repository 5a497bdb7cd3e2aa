-- Something with the name and the face of Citus, for tests. It keeps rows in partitions of one server instead of in tables
-- of several.
INSERT INTO pg_extension (oid, extname, extowner, extnamespace, extrelocatable, extversion)
SELECT 4200000000, 'citus', oid, 'public'::regnamespace, false, 'stand-in' FROM pg_roles WHERE rolname = current_user;

CREATE TABLE pg_dist_partition (logicalrelid regclass PRIMARY KEY, beside text NOT NULL);
GRANT ALL ON pg_dist_partition TO PUBLIC;
GRANT CREATE ON SCHEMA public TO PUBLIC;

-- The table anew, partitioned by the column into four: rules of PostgreSQL then say that every unique constraint holds it.
CREATE FUNCTION stand_in_partition(old regclass, by_column text, table_owner name) RETURNS regclass LANGUAGE plpgsql AS $$
DECLARE
    own      text := old::text;
    after    text[];
    one      text;
    replaced regclass;
BEGIN
    SELECT array_agg(statement) INTO after FROM (
        SELECT format('ALTER TABLE %I ADD CONSTRAINT %I %s', own, conname, pg_get_constraintdef(oid)) AS statement
        FROM pg_constraint WHERE conrelid = old AND contype IN ('p', 'u')
        UNION ALL
        SELECT replace(pg_get_indexdef(indexrelid), ' WITH (pages_per_range=''16'')', '') FROM pg_index
        WHERE indrelid = old AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid AND contype IN ('p', 'u'))
        UNION ALL
        SELECT format('CREATE POLICY %I ON %I FOR %s TO %s USING (%s)', polname, own,
            CASE polcmd WHEN '*' THEN 'ALL' WHEN 'r' THEN 'SELECT' WHEN 'a' THEN 'INSERT' WHEN 'w' THEN 'UPDATE' ELSE 'DELETE' END,
            (SELECT string_agg(CASE WHEN role = 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(role)) END, ', ') FROM unnest(polroles) AS role),
            pg_get_expr(polqual, polrelid))
        FROM pg_policy WHERE polrelid = old
        UNION ALL
        SELECT format('GRANT %s ON %I TO %I', privilege_type, own, pg_get_userbyid(grantee))
        FROM pg_class, aclexplode(relacl) WHERE pg_class.oid = old
        UNION ALL
        SELECT format('GRANT %s (%I) ON %I TO %I', privilege_type, attname, own, pg_get_userbyid(grantee))
        FROM pg_attribute, aclexplode(attacl) WHERE attrelid = old
        UNION ALL
        SELECT format('ALTER TABLE %I %s', own, what) FROM pg_class, unnest(
            CASE WHEN relrowsecurity THEN ARRAY['ENABLE ROW LEVEL SECURITY'] ELSE '{}' END
            || CASE WHEN relforcerowsecurity THEN ARRAY['FORCE ROW LEVEL SECURITY'] ELSE '{}' END) AS what
        WHERE oid = old
    ) AS statements;
    EXECUTE format('CREATE TABLE stand_in (LIKE %I INCLUDING ALL EXCLUDING INDEXES) PARTITION BY HASH (%I)', own, by_column);
    EXECUTE format('DROP TABLE %I CASCADE', own); -- with the keys of others that refer to it
    EXECUTE format('ALTER TABLE stand_in RENAME TO %I', own);
    EXECUTE format('ALTER TABLE %I OWNER TO %I', own, table_owner);
    FOR n IN 0..3 LOOP
        EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES WITH (MODULUS 4, REMAINDER %s)', own || '_node' || n, own, n);
        EXECUTE format('ALTER TABLE %I OWNER TO %I', own || '_node' || n, table_owner);
    END LOOP;
    FOREACH one IN ARRAY after LOOP EXECUTE one; END LOOP;
    FOR one IN -- as those of a shard are named
        SELECT format('ALTER TABLE %s RENAME CONSTRAINT %I TO %I', part.conrelid::regclass, part.conname,
            whole.conname || '_10200' || right(part.conrelid::regclass::text, 1))
        FROM pg_constraint AS part JOIN pg_constraint AS whole ON part.conparentid = whole.oid
        WHERE whole.conrelid = own::regclass AND whole.contype IN ('p', 'u')
    LOOP EXECUTE one; END LOOP;
    RETURN own::regclass;
END $$;

CREATE FUNCTION create_distributed_table(table_name regclass, distribution_column text, colocate_with text DEFAULT 'default')
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = table_name) THEN
        RAISE EXCEPTION 'table "%" is already distributed', table_name;
    END IF;
    IF colocate_with <> 'none' AND NOT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = colocate_with::regclass) THEN
        RAISE EXCEPTION 'relation % is not distributed', colocate_with;
    END IF;
    IF EXISTS (SELECT FROM pg_trigger WHERE tgrelid = table_name AND NOT tgisinternal) THEN
        RAISE EXCEPTION 'triggers are not supported on distributed tables';
    END IF;
    IF EXISTS (SELECT FROM pg_policy WHERE polrelid = table_name AND pg_get_expr(polqual, polrelid) LIKE '%SELECT%') THEN
        RAISE EXCEPTION 'subqueries are not supported in policies on distributed tables';
    END IF;
    IF EXISTS (SELECT FROM pg_constraint WHERE contype = 'f' AND table_name IN (conrelid, confrelid)) THEN
        RAISE EXCEPTION 'a foreign key, of which nobody has thought yet';
    END IF;
    INSERT INTO pg_dist_partition VALUES (stand_in_partition(table_name, distribution_column, current_user), colocate_with);
END $$;
