-- The error group of a failed result; what failed before there were signatures gets one all the same.
create or replace function app.signature_of(error jsonb)
returns text
language sql immutable
as $$ select coalesce(error ->> 'signature', app.error_signature(error ->> 'category', error ->> 'code', error ->> 'message')) $$;
