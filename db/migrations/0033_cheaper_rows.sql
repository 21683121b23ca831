-- Postgres reads the text of every check of a table again in each statement that writes to it, looks at the row behind each foreign key, and
-- plans each long condition of an index. Together that was a quarter of a submit (docs/decisions/0026). What is said once where a value
-- arises is not said again with every row that copies it.

set local role fanfold_owner;

-- A submit has just read the blueprint, and the stages of a job are written with it. Nothing deletes a
-- blueprint, and a job goes together with its stages (app.remove_jobs).
alter table app.jobs drop constraint jobs_tenant_id_blueprint_hash_fkey;
alter table app.stages drop constraint stages_tenant_id_job_id_fkey;

-- The id is a digest that the same function computes; the others are refused by app.check_submitted, with words.
alter table app.jobs
  drop constraint job_id_is_a_sha256,
  drop constraint parameters_are_an_object,
  drop constraint deadline_counts_from_a_known_moment;

-- The same, said shorter: the statuses are in this order.
alter table app.jobs
  drop constraint finished_job_has_an_end,
  add constraint finished_job_has_an_end check ((status > 'processing') = (finished_at is not null));
alter table app.stages
  drop constraint closed_stage_has_an_end,
  add constraint closed_stage_has_an_end check ((status >= 'completed') = (closed_at is not null));

-- Every job copies them from here.
alter table app.blueprint_stages
  add constraint limits_are_positive check (
    batch > 0 and max_parallel > 0 and timeout_s > 0 and max_attempts > 0
    and budget_count >= 0 and budget_percent between 0 and 100),
  add constraint on_task_failure_is_known check (on_task_failure in ('finish_stage', 'fail_fast'));
alter table app.stages
  drop constraint limits_are_positive,
  drop constraint on_task_failure_is_known;

-- Only plans bring them: app.refused_task says what is wrong there.
alter table app.tasks
  drop constraint index_is_a_short_name,
  drop constraint bbox_has_four_or_six_numbers;

-- True: the event can be an entry of the audit (app.is_audit_kind). What the engine writes by itself on its hot path leaves it null.
alter table app.events add column audit boolean;
update app.events set audit = true
 where kind not in (
    'job.submitted', 'job.completed', 'job.partial_success', 'job.failed', 'job.released', 'stage.planned', 'stage.completed',
    'stage.partial_success', 'stage.failed', 'stage.skipped', 'stage.cancelled', 'stage.waiting_approval', 'stage.reopened')
    and kind not like 'janitor.%' and kind not like 'alert.%';
drop index app.events_of_people;
drop index app.events_of_actor;
create index events_of_people on app.events (tenant_id, (-event_id)) where audit;
create index events_of_actor on app.events (tenant_id, (split_part(actor, ' (', 1) collate "C"), (-event_id)) where audit;

reset role;
