import { metrics_api } from "../../core/api/metrics.js";
import { routes } from "../http/route.js";

export const metricsRoutes = () =>
  routes(metrics_api, {
    read: ({ metrics }) => metrics.scrape(),
  });
