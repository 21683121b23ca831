-- What a verb on a selection of tasks leaves as it is, and why: [{reason, tasks, text}], largest first. `counts` is of
-- selection_counts, `touched` names the statuses that it does something about.
create or replace function app.selection_left(counts jsonb, touched text[])
returns json
language sql stable
as $$
  select coalesce(json_agg(json_build_object('reason', l.reason, 'tasks', n.tasks, 'text', l.text) order by n.tasks desc, l.reason), '[]')
    from (values
      ('completed', 'completed, which is final'),
      ('failed', 'failed, which was not asked for'),
      ('skipped', 'skipped already'),
      ('cancelled', 'never ran, which was not asked for'),
      ('queued', 'waiting to run'),
      ('processing', 'running'),
      ('vanished', 'not in the plan of the stage any more'),
      ('beyond', 'not among the tasks of the stage')) l(reason, text)
    cross join lateral (select (counts ->> l.reason)::bigint as tasks) n
   where n.tasks > 0 and l.reason <> all (touched)
$$;
