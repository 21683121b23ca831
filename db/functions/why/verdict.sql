-- One answer of app.why: a word of its list, the sentence, what proves it, and what comes of it. Evidence that is not there is
-- left out. `action` is the one step to take, `instead` another that the sentence of what heals it leads to.
create or replace function app.verdict(
  code text, reason text, evidence json, since timestamptz default null, heals_at timestamptz default null, heals text default null,
  action jsonb default null, instead jsonb default null)
returns json
language plpgsql stable
as $$
begin
  return json_build_object('code', code, 'reason', reason, 'evidence', json_strip_nulls(evidence), 'since', since,
    'heals_at', heals_at, 'heals', heals, 'action', action, 'instead', instead);
end $$;
