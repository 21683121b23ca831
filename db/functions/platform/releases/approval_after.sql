-- The approval state machine: what a release is after a verb; null where that verb is not for it.
create or replace function platform.approval_after(approval text, verb text)
returns text
language sql immutable
as $$
  select case
    when approval = 'pending_review' and verb = 'approve' then 'approved'
    when approval = 'pending_review' and verb = 'reject' then 'rejected'
    when approval = 'approved' and verb = 'revoke' then 'revoked'
    when verb = 'overwrite' and approval <> 'approved' then 'pending_review'
  end
$$;
