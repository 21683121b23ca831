-- Does each word (in small letters) begin the job's id, or stand in its type, a label, its correlation id, group or error?
create or replace function app.job_has_words(
  words text[], job_id text, job_type text, labels jsonb, correlation_id text, group_id text, error jsonb)
returns boolean
language plpgsql immutable
as $$
declare
  v_text text := lower(concat_ws(E'\n', job_type, correlation_id, group_id, error ->> 'message', error ->> 'code'));
  v_labels text := lower(labels::text);
  v_word text;
begin
  foreach v_word in array words loop
    continue when strpos(v_text, v_word) > 0 or starts_with(job_id, v_word);
    -- What the JSON does not hold its values do not hold either, unless it is written otherwise there. Cheap, and true of most jobs.
    if strpos(v_labels, v_word) = 0 and translate(v_word, E'"\\\n\r\t\b\f', '') = v_word then
      return false;
    end if;
    continue when exists (
      select from jsonb_each_text(labels) l where strpos(lower(l.key), v_word) > 0 or strpos(lower(l.value), v_word) > 0);
    return false;
  end loop;
  return true;
end $$;
