import { package_version } from "../../config.js";
import { health_api } from "../../core/api/health.js";
import { routes } from "../route.js";

export const healthRoutes = () =>
  routes(health_api, {
    live: async () => ({ status: "alive" as const, version: package_version }),
  });
