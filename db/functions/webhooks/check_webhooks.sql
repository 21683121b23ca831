-- Refuses a submit whose jobs name receivers that could never be told, all problems at once. A submit without any is not read.
create or replace function app.check_webhooks(tenant text, jobs json)
returns void
language plpgsql
as $$
begin
  if strpos(jobs::text, '"webhooks"') = 0
     or not exists (select from json_array_elements(jobs) j where json_typeof(j -> 'webhooks') <> 'null') then
    return;
  end if;
  perform app.refuse_problems('the submit', app.webhook_problems(tenant, jobs));
  -- Made here, so that no job's end has to: two that did would wait for each other.
  perform app.standing_stage(tenant, 'connector.webhook.deliver');
end $$;
