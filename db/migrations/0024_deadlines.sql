-- A job's deadline counts from when its work starts, unless its submit says: from the submit.

set local role fanfold_owner;

alter table app.jobs
  add column deadline_from text not null default 'start',
  -- While it waits for a person its deadline does not come nearer, and does not begin to.
  add column clock_stands boolean not null default false,
  add constraint deadline_counts_from_a_known_moment check (deadline_from in ('start', 'submit'));

update app.jobs set clock_stands = true where finished_at is null and deadline_left_s is not null and waits_for = 0;

-- Null was "not said" and is "none" from now on: who did not say it has no such key.
update app.saved_blueprints
   set blueprint = blueprint - 'deadline_s'
 where blueprint -> 'deadline_s' = 'null' and not (declaration ? 'deadline_s');
update app.registered_blueprints set blueprint = blueprint - 'deadline_s' where blueprint -> 'deadline_s' = 'null';

reset role;
