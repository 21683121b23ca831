-- The place of a job on its tenant's ring, where wide stages and retries take turns; lone tasks have one for each type. See ready.turn.
create or replace function app.ring_turn(job_id text, stage_id bigint)
returns bigint
language sql immutable
as $$ select 4503599627370496 + case when job_id is null then stage_id else ('x' || left(job_id, 12))::bit(48)::bigint end $$;
