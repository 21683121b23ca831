-- A webhook-id: later ones are greater (microseconds, then a sequence), and none can be guessed.
create or replace function app.new_delivery_id()
returns text
language plpgsql volatile
as $$
begin
  return 'msg_' || lpad(to_hex((extract(epoch from clock_timestamp()) * 1000000)::bigint), 14, '0')
    || lpad(to_hex(nextval('app.webhook_order') & 16777215), 6, '0')
    || left(replace(gen_random_uuid()::text, '-', ''), 12);
end $$;
