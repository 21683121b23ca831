// What the catalogue conforms to: each class is here because a test shows it.
const stac = "https://api.stacspec.org/v1.0.0";
const features = "http://www.opengis.net/spec/ogcapi-features";
const cql2 = "http://www.opengis.net/spec/cql2/1.0/conf";

export const conforms_to: readonly string[] = [
  `${stac}/core`,
  `${stac}/collections`,
  `${stac}/ogcapi-features`,
  `${stac}/ogcapi-features#sort`,
  `${stac}/ogcapi-features#fields`,
  `${stac}/ogcapi-features/extensions/transaction`,
  `${stac}/collections/extensions/transaction`,
  `${stac}/item-search`,
  `${stac}/item-search#sort`,
  `${stac}/item-search#fields`,
  `${stac}/item-search#query`,
  // Filter was a candidate for long: clients look for either.
  `${stac}/item-search#filter`,
  `${stac}-rc.3/item-search#filter`,
  `${features}-1/1.0/conf/core`,
  `${features}-1/1.0/conf/oas30`,
  `${features}-1/1.0/conf/geojson`,
  `${features}-3/1.0/conf/queryables`,
  `${features}-3/1.0/conf/filter`,
  `${features}-3/1.0/conf/features-filter`,
  `${cql2}/cql2-text`,
  `${cql2}/cql2-json`,
  `${cql2}/basic-cql2`,
  `${cql2}/advanced-comparison-operators`,
  `${cql2}/case-insensitive-comparison`,
  `${cql2}/accent-insensitive-comparison`,
  `${cql2}/basic-spatial-functions`,
  `${cql2}/basic-spatial-functions-plus`,
  `${cql2}/spatial-functions`,
  `${cql2}/temporal-functions`,
  `${cql2}/array-functions`,
  `${cql2}/property-property`,
  `${cql2}/arithmetic`,
];
