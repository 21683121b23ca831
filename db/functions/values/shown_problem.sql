-- What is wrong with a text that people type and others read, as a name or (with lines) as a description; null: nothing. Refused is what a
-- terminal would obey, what nobody sees, and of a name the second spelling of a letter (é as e and an accent), which would be another name
-- that looks the same. core/declare/names.ts says the same. Parameters are data, and are kept as they come.
create or replace function app.shown_problem(text_given text, most integer, lines boolean default false)
returns text
language sql immutable
as $$
  select case
    when text_given is null then null
    when length(text_given) > most or (text_given = '' and not lines) then 'not ' || case when lines then 'at most ' else '1 to ' end || most || ' characters long'
    when case when lines then translate(text_given, E'\n\t', '') else text_given end
      ~ '[\u0001-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]'
      then 'holds a control character or an invisible mark'
    when lines then null
    when text_given ~ '^\s|\s$' then 'begins or ends with a blank'
    when text_given is not nfc normalized then 'is not composed: one of its letters is written as a letter and a mark'
  end
$$;
