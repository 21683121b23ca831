// What the OGC API conforms to: each class is here because a test shows it.
const features = "http://www.opengis.net/spec/ogcapi-features";
const tiles = "http://www.opengis.net/spec/ogcapi-tiles-1/1.0/conf";
const common = "http://www.opengis.net/spec/ogcapi-common";
const sets = "http://www.opengis.net/spec/tms/2.0/conf";
const processes = "http://www.opengis.net/spec/ogcapi-processes-1/1.0/conf";
const cql2 = "http://www.opengis.net/spec/cql2/1.0/conf";

export const conforms_to: readonly string[] = [
  `${common}-1/1.0/conf/core`,
  `${common}-1/1.0/conf/landing-page`,
  `${common}-1/1.0/conf/json`,
  `${common}-1/1.0/conf/html`,
  `${common}-1/1.0/conf/oas30`,
  `${common}-2/1.0/conf/collections`,
  `${features}-1/1.0/conf/core`,
  `${features}-1/1.0/conf/oas30`,
  `${features}-1/1.0/conf/html`,
  `${features}-1/1.0/conf/geojson`,
  `${features}-2/1.0/conf/crs`,
  `${features}-3/1.0/conf/queryables`,
  `${features}-3/1.0/conf/filter`,
  `${features}-3/1.0/conf/features-filter`,
  `${tiles}/core`,
  `${tiles}/tileset`,
  `${tiles}/tilesets-list`,
  `${tiles}/geodata-tilesets`,
  `${tiles}/mvt`,
  `${tiles}/oas30`,
  `${sets}/tilematrixset`,
  `${sets}/json-tilematrixset`,
  `${processes}/core`,
  `${processes}/ogc-process-description`,
  `${processes}/json`,
  `${processes}/oas30`,
  `${processes}/job-list`,
  `${processes}/dismiss`,
  `${processes}/callback`,
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
