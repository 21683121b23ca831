-- The role that servers and workers log in as: it owns nothing and names the tenant with each call. After `fanfold migrate`, as an administrator:
--   psql "$ADMIN_URL" -v password="$FANFOLD_DB_PASSWORD" -f deploy/roles.sql
-- It may be run again, also to change the password.
\set ON_ERROR_STOP on
select 'create role fanfold_server login' where not exists (select from pg_roles where rolname = 'fanfold_server') \gexec
alter role fanfold_server password :'password';
grant fanfold_api, fanfold_worker to fanfold_server;
select app.map_role('fanfold_server', null);
