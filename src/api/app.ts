import type { App } from "./api-env";
import { configRoutes } from "./configs/configs";
import { contextRoutes } from "./contexts/contexts";
import { documentationRoutes } from "./docs/documentation";
import { createEmptyApp } from "./empty-app";
import { evalRoutes } from "./evals/evals";
import { keyRoutes } from "./keys/keys";
import { secretRoutes } from "./keys/secrets";
import { sessionRoutes } from "./sessions/session-routes";

/**
 * Creates the HTTP API with all routes, in the order of the OpenAPI document. Call
 * `app.fetch(request, services)` for each request. The Worker loads the routes in groups
 * (src/worker/route-groups.ts).
 */
export function createApp(): App {
  const app = createEmptyApp();
  sessionRoutes(app);
  keyRoutes(app);
  secretRoutes(app);
  configRoutes(app);
  evalRoutes(app);
  contextRoutes(app);
  documentationRoutes(app, async () => app);
  return app;
}
