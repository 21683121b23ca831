-- What a failure is to the one who decides about another attempt: a row of app.retry_defaults, or null when there is none.
create or replace function app.retry_kind(category text, code text)
returns text
language sql immutable
as $$
  select case
    when category in ('crash', 'throttled') then category
    when category = 'engine' then case when c.is_full then 'spill' else 'engine' end
    when category <> 'transient' then null
    when c.is_full then 'storage'
    when code in ('unexpected', 'bug') then code
    else 'transient'
  end
    from (select code in ('storage', 'disk_full', 'enospc', 'edquot', 'http_507', 'sqlstate_53100') as is_full) c
$$;
