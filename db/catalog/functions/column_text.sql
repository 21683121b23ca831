-- The SQL of a column that searches know. source: 'stac' or 'pgstac', whose texts are in the database's own order until told.
create or replace function stac.column_text(name text, source text)
returns text
language plpgsql immutable
as $$
begin
  case
    when name in ('datetime', 'end_datetime') then return 'i.' || name;
    when name in ('id', 'collection') and source = 'stac' then return 'i.' || name;
    when name = 'id' then return '(i.id collate "C")';
    when name = 'collection' then return '(stac.own_name(i.collection, $1) collate "C")';
    else
      raise exception 'there is no column "%"', left(name, 80) using errcode = 'FF002', hint = 'id, collection, datetime or end_datetime';
  end case;
end $$;
