import "../map/map.css";
import "../catalog/catalog.css";
import "./layers.css";

export { LayerPage } from "./layer_page.js";
export { LayersPage } from "./layers_page.js";
