-- What only a sweep of the janitor will put right. Every live worker sweeps about every five seconds; when nobody has for long,
-- that is the reason to tell, with the other as its consequence.
create or replace function app.why_sweep(code text, reason text, evidence json, since timestamptz, cure text)
returns json
language plpgsql stable
as $$
declare
  v_health json := app.janitor_health();
  v_swept boolean := exists (select from app.workers w where w.status = 'live' and app.is_alive(w));
begin
  if (v_health ->> 'late')::boolean then
    return app.verdict('JANITOR_LATE', case
        when v_health ->> 'last_success_at' is null then 'no sweep has ever ended well'
        else 'no sweep has ended well since ' || app.utc_text((v_health ->> 'last_success_at')::timestamptz)
      end || ', and one is needed: ' || reason,
      json_build_object('janitor', v_health, 'blocked', json_build_object('code', code, 'reason', reason, 'since', since, 'evidence', evidence)),
      coalesce((v_health ->> 'last_success_at')::timestamptz, since), null,
      case when v_swept then 'workers are live, but their sweeps do not end well' else 'no worker is live that would sweep; one that is started does' end,
      app.action('sweep'));
  end if;
  return app.verdict(code, reason, evidence, since,
    case when v_swept then greatest(since + interval '7 seconds', now()) end,
    cure || case when v_swept then ', within about five seconds' else '; no worker is live that would sweep, one that is started does' end,
    app.action('sweep'));
end $$;
