-- Ends attempts that failed, under claims (`locked`) that the caller has locked and seen to be the worker's: each is tried again
-- (`retries`: claim, ordinal, claim, ordinal …), or is the end of its task (`stages`), or of its stage's planning (`plans`). `failed` is as
-- finish describes it.
create or replace function app.fail_tasks(
  worker uuid, locked bigint[], failed json, out stages bigint[], out plans bigint[], out retries bigint[])
language plpgsql
as $$
declare
  v_failure record;
  v_gone_claims bigint[] := '{}'::bigint[];
  v_gone_ordinals bigint[] := '{}'::bigint[];
  v_claims bigint[];
  v_ranges int8multirange[];
begin
  stages := '{}'::bigint[];
  plans := '{}'::bigint[];
  retries := '{}'::bigint[];
  for v_failure in
    select distinct on (f.c, f.o) f.*, k.stage_id
      from json_to_recordset(failed) as f(
        c bigint, o bigint, d integer, category text, code text, message text, retry_after_s double precision, detail jsonb, retry jsonb)
      cross join lateral (select * from app.claims k where k.claim_id = f.c offset 0) k
     where k.claim_id = any (locked) and k.worker_id = worker and k.held @> f.o
     order by f.c, f.o
  loop
    if app.fail_attempt(worker, v_failure.c, v_failure.o, v_failure.d, v_failure.category, v_failure.code, v_failure.message,
        v_failure.retry_after_s, v_failure.detail, v_failure.retry) then
      retries := retries || array[v_failure.c, v_failure.o];
    elsif v_failure.o < 0 then
      plans := plans || v_failure.stage_id;
    else
      stages := stages || v_failure.stage_id;
    end if;
    v_gone_claims := v_gone_claims || v_failure.c;
    v_gone_ordinals := v_gone_ordinals || v_failure.o;
  end loop;
  select array_agg(g.c), array_agg(g.mr) into v_claims, v_ranges
    from (
      select u.c, range_agg(int8range(u.o, u.o + 1)) as mr from unnest(v_gone_claims, v_gone_ordinals) as u(c, o) group by u.c
    ) g;
  if v_claims is not null then
    perform app.let_go(v_claims, v_ranges);
  end if;
end $$;
