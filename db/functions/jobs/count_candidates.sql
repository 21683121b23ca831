-- Counts the jobs of some statuses that fit a filter, in the order of the statuses, looking at 50,000 of them and no longer than a
-- moment; `is_full`: there may be more.
create or replace function app.count_candidates(
  tenant text, f app.job_filter, among app.job_status[], out counts bigint[], out is_full boolean, out examined bigint)
language plpgsql stable
as $$
declare
  c_most constant integer := 50000;
  c_quick constant interval := interval '80 milliseconds';
  c_least constant integer := 5000;
  c_chunk constant integer := 2500;
  v_began timestamptz := clock_timestamp();
  v_before timestamptz := coalesce(f.created_before, 'infinity'::timestamptz);
  v_after_id text := '';
  v_seen bigint;
  v_last text;
  v_found bigint[];
begin
  counts := array_fill(0::bigint, array[6]);
  is_full := false;
  examined := 0;
  f.statuses := case when f.statuses is null then among else array(select s from unnest(f.statuses) s where s = any (among)) end;
  f.source := app.job_source(f);
  while f.source <> 'none' loop
    select count(*), (array_agg(c.job_id order by c.created_at, c.job_id desc))[1], coalesce(min(c.created_at), v_before), array[
          count(*) filter (where c.fits and c.status = 'queued'), count(*) filter (where c.fits and c.status = 'processing'),
          count(*) filter (where c.fits and c.status = 'completed'), count(*) filter (where c.fits and c.status = 'partial_success'),
          count(*) filter (where c.fits and c.status = 'failed'), count(*) filter (where c.fits and c.status = 'cancelled')]
      into v_seen, v_last, v_before, v_found
      from app.job_candidates(tenant, f, v_before, v_after_id, c_chunk) c;
    v_after_id := coalesce(v_last, v_after_id);
    examined := examined + v_seen;
    counts := array(select a + b from unnest(counts, v_found) as n(a, b));
    exit when v_seen < c_chunk;
    is_full := examined >= c_most or (examined >= c_least and clock_timestamp() - v_began > c_quick);
    exit when is_full;
  end loop;
end $$;
