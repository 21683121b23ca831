-- The jobs of a tenant take turns: the place of what is ready in the order of its tenant is a column of its own.

set local role fanfold_owner;

-- -1: due later. From 0 to 2^52: small work, in the order of these numbers; 0 is what goes on with a job that has begun, others count
-- microseconds. From 2^52: a place on the ring, where each job and each type of lone tasks has one, however many its ranges are.
alter table app.ready add column turn bigint;
update app.ready r
   set turn = case
     when r.run_at > now() then -1
     when s.job_id is null then 4503599627370496 + r.stage_id
     when r.hi - r.lo > 100 or r.attempt > 1 or r.crashes > 0 or r.throttles > 0 then 4503599627370496 + ('x' || left(s.job_id, 12))::bit(48)::bigint
     else extract(epoch from r.run_at) * 1000000
   end
  from app.stages s
 where s.stage_id = r.stage_id;
-- What is left of stages that are gone is the janitor's.
update app.ready r set turn = -1 where r.turn is null;
alter table app.ready
  alter column turn set default (extract(epoch from now()) * 1000000)::bigint,
  alter column turn set not null,
  add constraint turn_is_a_place check (turn >= -1);
drop index app.ready_order;
create index ready_order on app.ready (task_type, tenant_id, priority desc, turn, run_at, ready_id);

alter type app.ready_pool add attribute turn bigint;

-- What a claim has come to so far. `bytes`: what still fits. `touched`: it holds locks. `shared`: jobs had to share it. `turn`: where on the
-- ring the tenant's next claim goes on.
create type app.taking as (taken app.taken_range[], tasks bigint, bytes bigint, touched boolean, shared boolean, turn bigint);

reset role;
