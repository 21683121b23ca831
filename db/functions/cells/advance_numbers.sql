-- Lets the sequences of a cell go on above what another cell has given, and above what they have given themselves. Whoever takes a number
-- meanwhile waits: altering comes first, because what is read before it may be old. It waits itself for every transaction that has taken one, and
-- everybody behind it: the caller's lock_timeout is short, and it tries again.
create or replace function app.advance_numbers(cell smallint, above json)
returns void
language plpgsql
as $$
declare
  v_sequence record;
  v_last bigint;
begin
  for v_sequence in select s.name, s.step from app.cell_sequences() s order by s.name loop
    execute format('alter sequence %s increment by %s', v_sequence.name, coalesce(v_sequence.step, 1));
    execute format('select s.last_value from %s s', v_sequence.name) into v_last;
    v_last := greatest(v_last, (above ->> v_sequence.name)::bigint);
    execute format('alter sequence %s restart with %s', v_sequence.name, case
      when v_sequence.step is null then v_last + 1
      else (v_last / v_sequence.step + 1) * v_sequence.step + cell
    end);
  end loop;
end $$;
