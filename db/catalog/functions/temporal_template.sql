-- How two times lie to each other, as SQL with places for where the first begins and ends and where the second does; null where there is
-- no such operator.
create or replace function stac.temporal_template(op text)
returns text
language sql immutable parallel safe
return case op
  when 't_after' then '%1$s > %4$s'
  when 't_before' then '%2$s < %3$s'
  when 't_contains' then '%1$s < %3$s and %2$s > %4$s'
  when 't_disjoint' then 'not (%1$s <= %4$s and %2$s >= %3$s)'
  when 't_during' then '%1$s > %3$s and %2$s < %4$s'
  when 't_equals' then '%1$s = %3$s and %2$s = %4$s'
  when 't_finishedBy' then '%1$s < %3$s and %2$s = %4$s'
  when 't_finishes' then '%1$s > %3$s and %2$s = %4$s'
  when 't_intersects' then '%1$s <= %4$s and %2$s >= %3$s'
  when 't_meets' then '%2$s = %3$s'
  when 't_metBy' then '%1$s = %4$s'
  when 't_overlappedBy' then '%1$s > %3$s and %1$s < %4$s and %2$s > %4$s'
  when 't_overlaps' then '%1$s < %3$s and %2$s > %3$s and %2$s < %4$s'
  when 't_startedBy' then '%1$s = %3$s and %2$s > %4$s'
  when 't_starts' then '%1$s = %3$s and %2$s < %4$s'
end;
