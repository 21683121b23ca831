-- The recipe of a request: the one of its data type, or the one that takes files of such names, so many of them. Of several the one that
-- takes the fewest files, and then the fewest kinds of them. An unroutable request is refused with what would be accepted.
create or replace function platform.route(tenant text, asked jsonb)
returns jsonb
language plpgsql stable
as $$
declare
  v_recipe jsonb;
  v_known text;
begin
  if asked ->> 'data_type' is not null then
    select k.recipe into v_recipe from platform.known_recipes(tenant) k where k.data_type = asked ->> 'data_type';
  else
    select k.recipe into v_recipe
      from platform.known_recipes(tenant) k
     where platform.accepts(k.recipe -> 'accepts', coalesce(nullif(asked -> 'files', 'null'), '[]'))
     order by coalesce((k.recipe #>> '{accepts,max_files}')::integer, 10000),
           jsonb_array_length(k.recipe #> '{accepts,extensions}'), k.data_type limit 1;
  end if;
  if v_recipe is not null then
    return v_recipe;
  end if;
  select string_agg(k.data_type || coalesce(' (' || (
      select string_agg(e, ', ') from jsonb_array_elements_text(k.recipe #> '{accepts,extensions}') e) || ')', ''), '; ')
    into v_known
    from platform.known_recipes(tenant) k;
  raise exception '%', case
      when asked ->> 'data_type' is not null then format('there is no recipe for data type "%s"', left(asked ->> 'data_type', 80))
      else 'no recipe takes these files' end
    using errcode = 'FF002', hint = 'accepted: ' || coalesce(v_known, 'nothing yet; workers register recipes when they start') || '; or name a data_type';
end $$;
