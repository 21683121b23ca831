-- Everything that is wrong with a key that is to be made.
create or replace function app.key_problems(request json)
returns jsonb
language plpgsql stable
as $$
declare
  v_scopes jsonb := (request -> 'scopes')::jsonb;
  v_known constant jsonb := '["submit", "read", "operate", "work", "admin"]'::jsonb;
begin
  return (
    select coalesce(jsonb_agg(jsonb_build_object('path', '$.' || c.field, 'problem', c.problem, 'fix', c.fix)), '[]')
      from (values
        ('name', 'missing', 'say what the key is for, e.g. "nightly import"', coalesce(json_typeof(request -> 'name'), 'null') = 'null'),
        ('name', case when json_typeof(request -> 'name') = 'string' then app.shown_problem(request ->> 'name', 100) else 'not a text' end,
          'say what the key is for, e.g. "nightly import"',
          coalesce(json_typeof(request -> 'name') not in ('string', 'null') or app.shown_problem(request ->> 'name', 100) is not null, false)),
        ('env', 'not a short word', '1 to 16 lower-case letters and digits, e.g. "live" or "test"',
          coalesce(request ->> 'env' !~ '^[a-z0-9]{1,16}$', false)),
        ('scopes', 'not a list of at least one scope', 'some of submit, read, operate, work, admin',
          jsonb_typeof(v_scopes) is distinct from 'array' or v_scopes = '[]'),
        ('scopes', 'has a scope that there is not', 'some of submit, read, operate, work, admin',
          jsonb_typeof(v_scopes) = 'array' and not v_scopes <@ v_known),
        ('operator', 'neither true nor false', 'true only for keys of whoever runs the service',
          coalesce(request ->> 'operator' not in ('true', 'false'), false)),
        ('expires_at', 'not a time', '2030-01-31T08:00:00Z', not app.is_time(request ->> 'expires_at')),
        ('expires_at', 'not in the future', 'a later time, or none at all',
          case when app.is_time(request ->> 'expires_at') then coalesce((request ->> 'expires_at')::timestamptz <= now(), false) else false end),
        ('key_id', 'not 12 lower-case letters and digits', 'let the program make it',
          coalesce(request ->> 'key_id' !~ '^[a-z0-9]{12}$', true)),
        ('secret_hash', 'not a SHA-256 in hex', 'let the program make it',
          coalesce(request ->> 'secret_hash' !~ '^[0-9a-f]{64}$', true))
      ) as c(field, problem, fix, bad)
     where c.bad);
end $$;
