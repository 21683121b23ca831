-- Everything that is wrong with what a tenant is to be called.
create or replace function app.tenant_problems(tenant_id text, name text)
returns jsonb
language plpgsql immutable
as $$
begin
  return (
    select coalesce(jsonb_agg(jsonb_build_object('path', '$.' || c.field, 'problem', c.problem, 'fix', c.fix)), '[]')
      from (values
        ('tenant_id', 'not a tenant''s id', 'up to 63 lower-case letters, digits, - and _, starting with a letter or digit',
          coalesce(tenant_id !~ '^[a-z0-9][a-z0-9_-]{0,62}$', true)),
        ('name', app.shown_problem(name, 200), 'how people call it, e.g. "Acme Ltd."', app.shown_problem(name, 200) is not null)
      ) as c(field, problem, fix, bad)
     where c.bad);
end $$;
