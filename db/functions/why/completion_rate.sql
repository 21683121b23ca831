-- Tasks of a tenant's type that were finished per second over the last five minutes, in the stages where such tasks are held or
-- wait with this one; null when fewer than five were.
create or replace function app.completion_rate(stage app.stages, type text)
returns double precision
language plpgsql stable
as $$
begin
  return (
    select case when count(*) >= 5 then count(*) / greatest(extract(epoch from now() - min(f.finished_at)), 1) end
      from (
        select k.stage_id from app.claims k where k.tenant_id = stage.tenant_id and k.task_type = type
        union
        select stage.stage_id
      ) s
      cross join lateral (
        select l.finished_at
          from (select r.finished_at from app.results r where r.stage_id = s.stage_id order by r.ordinal desc limit 5000) l
         where l.finished_at > now() - interval '5 minutes') f);
end $$;
