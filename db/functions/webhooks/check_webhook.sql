-- Refuses an endpoint that could never be, all problems at once. What is null is not looked at.
create or replace function app.check_webhook(url text, events json, description text, timeout_s text, secret text)
returns void
language plpgsql stable
as $$
begin
  perform app.refuse_problems('the webhook endpoint', (
    select jsonb_agg(jsonb_build_object('path', '$.' || c.field, 'problem', c.problem, 'fix', c.fix))
      from (values
        ('url', 'not an http(s) address of at most 2048 bytes', 'https://example.com/hooks', not app.is_webhook_url(url)),
        ('events', 'not a list of events', 'of ' || array_to_string(app.webhook_events(), ', '), not app.are_webhook_events(events)),
        ('description', app.shown_problem(description, 500, true), 'say it shorter, and in words', app.shown_problem(description, 500, true) is not null),
        ('timeout_s', 'not a whole number from 1 to 30', '20 is usual', timeout_s !~ '^([1-9]|[12][0-9]|30)$'),
        ('secret', 'neither sealed nor the name of a secret', 'secret://name, or none: one is made', not app.is_kept_secret(secret))
      ) as c(field, problem, fix, bad)
     where c.bad));
end $$;
