import "../map/map.css";
import "./catalog.css";

export { CatalogPage } from "./catalog_page.js";
export { CollectionPage } from "./collection_page.js";
export { ItemPage } from "./item_page.js";
