import { layers_api } from "../../core/api/layers.js";
import { routes } from "../http/route.js";

export const layersRoutes = () => routes(layers_api, {});
