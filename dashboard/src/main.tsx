import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { ApiProblem } from "./api/call.js";
import { App } from "./app.js";
import "./theme/tokens.css";
import "./theme/base.css";
import "./theme/controls.css";
import "./theme/boxes.css";
import "./theme/fields.css";
import "./theme/tables.css";
import "./theme/frame.css";
import { startTheme } from "./theme/theme.js";

startTheme();
const client = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 1_000,
      refetchOnWindowFocus: true,
      // What the server refused is refused again; what did not reach it may reach it now.
      retry: (failures, error) =>
        failures < 3 && error instanceof ApiProblem && (error.status === 0 || error.status >= 502),
    },
  },
});
const root = document.getElementById("root");
if (root !== null) {
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={client}>
        <App />
      </QueryClientProvider>
    </StrictMode>,
  );
}
