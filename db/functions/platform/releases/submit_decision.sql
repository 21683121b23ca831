-- The submit matrix: what becomes of a submit, by what is there. docs/datasets.md writes it out, and a test reads that table against this function.
--   there: its version exists; open: another version of the resource is under way or waits for a review; with `wants_approval` as its recipe says.
create or replace function platform.submit_decision(there boolean, approval text, wants_approval boolean, open boolean, mode text)
returns text
language sql immutable
as $$
  select case
    when there and mode <> 'force' then 'already_there'
    when there and wants_approval and approval = 'approved' then 'refuse_approved'
    when there then 'overwrite'
    when wants_approval and open then 'refuse_open'
    else 'new'
  end
$$;
