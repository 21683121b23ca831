-- What the database counted, as [[name, label, amount]]: of each name the `most` largest labels are named, the others are one, _other.
create or replace function app.measure_tallies(most integer)
returns json
language sql stable
as $$
  with ranked as (
    select t.name, t.label, sum(t.amount) as amount,
        row_number() over (partition by t.name order by t.label = '_other', sum(t.amount) desc, t.label) as place
      from app.tallies t
     group by t.name, t.label
  )
  select coalesce(json_agg(json_build_array(m.name, m.label, m.amount) order by m.name, m.label), '[]')
    from (
      select r.name, case when r.place <= most then r.label else '_other' end as label, sum(r.amount) as amount
        from ranked r
       group by 1, 2
    ) m
$$;
