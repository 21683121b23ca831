// Names of columns and layers that every tool can say without quoting: lower case, letters, digits and _, no words of SQL, none twice.
// Pure.

const longest = 63;
/** The key and the geometry of every layer. */
const own_names = ["fid", "geom"];

/** Those that cannot be a column's name without quotes in Postgres, and those that tools stumble over. */
const reserved = new Set(
  (
    "all analyse analyze and any array as asc asymmetric authorization between bigint binary bit boolean both case cast char " +
    "character check coalesce collate collation column concurrently constraint create cross current_catalog current_date " +
    "current_role current_schema current_time current_timestamp current_user dec decimal default deferrable desc distinct do " +
    "else end except exists extract false fetch float for foreign freeze from full grant greatest group grouping having ilike in " +
    "initially inner inout int integer intersect interval into is isnull join lateral leading least left like limit localtime " +
    "localtimestamp national natural nchar none normalize not notnull null nullif numeric offset on only or order out outer " +
    "overlaps overlay placing position precision primary real references returning right row select session_user setof similar " +
    "smallint some substring symmetric table tablesample then time timestamp to trailing treat trim true union unique user using " +
    "values varchar variadic verbose when where window with ctid oid tableoid xmin xmax cmin cmax"
  ).split(" "),
);

/** One name for each, in order; the same list gives the same names. */
export function columnNames(sources: readonly string[]): string[] {
  const taken = new Set(own_names);
  return sources.map((source, at) => {
    const wanted = safeName(source) || `column_${at + 1}`;
    let name = wanted;
    for (let number = 2; taken.has(name); number++) name = `${wanted.slice(0, longest - 6)}_${number}`;
    taken.add(name);
    return name;
  });
}

function safeName(source: string): string {
  const plain = plainText(source).slice(0, longest);
  if (plain === "") return "";
  if (/^[0-9]/.test(plain)) return `c_${plain}`.slice(0, longest);
  return reserved.has(plain) ? `${plain}_` : plain;
}

/** A layer's name from whatever it is called in its source; empty when nothing is left of it. */
export function layerName(source: string): string {
  return plainText(source).slice(0, 100);
}

function plainText(source: string): string {
  return source
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .replaceAll("ß", "ss")
    .replaceAll("ø", "o")
    .replaceAll("Ø", "O")
    .replaceAll("æ", "ae")
    .replaceAll("Æ", "AE")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "_")
    .replace(/^_+|_+$/g, "");
}
