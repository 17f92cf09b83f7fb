-- Makes the role and the database of runwarden, with no more rights than it needs. Run by a superuser, once:
--
--   psql -v password="'...'" -f role.sql
--
-- The role owns its schema, so that it can make and raise what is in there, and the partitions of each day. It can make no other schemas, roles or
-- databases, bypass no row security, not drop or alter the database, and connect to no other one that does not let everybody in.
--
-- Whether a standby is synchronous is shown to members of pg_read_all_stats alone. Without it the role goes by synchronous_standby_names and by
-- whether any standby is there; to know exactly, for store.require_sync_standby and the metric runwarden_store_sync_standby:
--
--   GRANT pg_read_all_stats TO runwarden;
\set ON_ERROR_STOP on
CREATE ROLE runwarden LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS CONNECTION LIMIT -1 PASSWORD :password;
CREATE DATABASE runwarden ENCODING 'UTF8' TEMPLATE template0 LC_COLLATE 'C.UTF-8' LC_CTYPE 'C.UTF-8';
REVOKE ALL ON DATABASE runwarden FROM PUBLIC;
GRANT CONNECT ON DATABASE runwarden TO runwarden;
\connect runwarden
REVOKE ALL ON SCHEMA public FROM PUBLIC;
CREATE SCHEMA runwarden AUTHORIZATION runwarden;
