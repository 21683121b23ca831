-- What of an open job cannot be as it is: the first such thing, or null. One statement, so one moment: a task on its way from one
-- place to another is seen in one of them.
create or replace function app.job_trouble(tenant text, job text, out stage_id bigint, out trouble text)
language plpgsql stable
as $$
begin
  select t.stage_id, t.trouble into stage_id, trouble
    from (
      select s.stage_id, case
          when s.status = 'processing' and p.stage_id is null then 'processing without a ledger'
          when s.status = 'processing' and p.remaining = 0 then 'complete but open'
          when s.status = 'processing' and not p.is_open then 'its ledger is closed and it is not'
          when s.status = 'processing'
            and not exists (select from app.ready r where r.stage_id = s.stage_id)
            and not exists (select from app.claims k where k.stage_id = s.stage_id) then 'its tasks are nowhere'
          when s.status = 'planning'
            and not exists (select from app.ready r where r.stage_id = s.stage_id)
            and not exists (select from app.claims k where k.stage_id = s.stage_id) then 'nobody plans it'
          when s.status = 'waiting' and s.waiting_for <> o.open then 'it waits for ' || s.waiting_for || ' stages, and ' || o.open || ' are open'
          when s.status = 'waiting' and s.waiting_for = 0
            and not exists (select from app.jobs j where j.tenant_id = tenant and j.job_id = job and j.waits_for > 0) then 'nothing keeps it from opening'
        end as trouble, s.number
        from app.stages s
        left join app.stage_progress p on p.stage_id = s.stage_id
        cross join lateral (
          select count(*) as open from app.stages b
           where b.tenant_id = tenant and b.job_id = job and b.number = any (s.after) and b.closed_at is null) o
       where s.tenant_id = tenant and s.job_id = job and s.closed_at is null
    ) t
   where t.trouble is not null
   order by t.number
   limit 1;
  if trouble is null and not exists (select from app.stages s where s.tenant_id = tenant and s.job_id = job and s.closed_at is null)
    and exists (select from app.jobs j where j.tenant_id = tenant and j.job_id = job and j.finished_at is null) then
    trouble := 'no stage of it is open';
  end if;
end $$;
