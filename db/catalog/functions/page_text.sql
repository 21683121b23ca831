-- The statement that gives what a search finds as one JSON array, [[item, place in the order], …], of 16 MB at most (`bytes` in $2: fewer),
-- but of one item at least: whatever is beyond is null, so that no answer outgrows the memory of who reads it.
create or replace function stac.page_text(request jsonb, source text)
returns text
language plpgsql immutable
as $$
declare
  c_bytes constant bigint := 16777216;
begin
  return format($q$
    select coalesce(json_agg(case when p.before < %s then json_build_array(p.content, p.key) end), '[]')
      from (
        select f.content, f.key,
          coalesce(sum(octet_length(f.content::text)) over (rows between unbounded preceding and 1 preceding), 0) as before
          from (%s) f
      ) p $q$, least((request ->> 'bytes')::bigint, c_bytes), stac.search_text(request, source));
end $$;
