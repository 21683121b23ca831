-- Names of the columns that the others lack, or, of those that both have, whose type is another one. Nothing before: nothing changed.
create or replace function geo.column_names(columns jsonb, others jsonb, of_another_type boolean)
returns jsonb
language sql immutable
as $$
  select coalesce(jsonb_agg(c.one -> 'name' order by c.n), '[]')
    from jsonb_array_elements(case when others is null then '[]' else coalesce(columns, '[]') end) with ordinality c (one, n)
    left join jsonb_array_elements(others) o (one) on o.one ->> 'name' = c.one ->> 'name'
   where case when of_another_type then o.one ->> 'pg_type' <> c.one ->> 'pg_type' else o.one is null end
$$;
