// Fields of ours in STAC records, beside those of the specification.

/** Of an asset: the file as zone:key. The href may be signed, moved or rewritten on the way to a reader; this says which file it is. */
export const ref_field = "fanfold:ref";
