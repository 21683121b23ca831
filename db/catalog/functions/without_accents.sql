-- A text without its accents: characters fall into letter and mark, and the marks go.
create or replace function stac.without_accents(value text)
returns text
language sql immutable strict parallel safe
return regexp_replace(normalize(value, nfd), '[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff]', '', 'g');
