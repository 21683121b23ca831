// Fields of ours in STAC records, beside those of the specification.

/** Names an asset's file as zone:key. The href may be signed, moved or rewritten on the way to a reader; this says which file it is. */
export const ref_field = "fanfold:ref";
