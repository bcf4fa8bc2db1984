import type { App } from "../api/api-env";
import { lazy } from "../async/lazy";
import {
  CONFIGS_PATH,
  CONTEXTS_PATH,
  EVALS_PATH,
  RUNS_PATH,
  SESSIONS_PATH,
} from "../protocol/paths";

/** Routes that are loaded together, with the first request to a path below one of `paths`. */
type RouteGroup = { paths: readonly string[]; load: () => Promise<(app: App) => void> };

const whole = lazy(() => import("../api/app"));
const documentation = lazy(() => import("../api/docs/documentation"));
const sessions = lazy(() => import("../api/sessions/session-routes"));
const keys = lazy(() => import("../api/keys/keys"));
const secrets = lazy(() => import("../api/keys/secrets"));
const configs = lazy(() => import("../api/configs/configs"));
const evals = lazy(() => import("../api/evals/evals"));
const contexts = lazy(() => import("../api/contexts/contexts"));

const ROUTE_GROUPS: readonly RouteGroup[] = [
  {
    paths: ["/healthz", "/openapi.json", "/docs"],
    load: async () => {
      const { documentationRoutes } = await documentation();
      return (app) => documentationRoutes(app, async () => (await whole()).createApp());
    },
  },
  { paths: [RUNS_PATH, SESSIONS_PATH], load: async () => (await sessions()).sessionRoutes },
  { paths: ["/api/keys", "/api/audit"], load: async () => (await keys()).keyRoutes },
  { paths: ["/api/secrets"], load: async () => (await secrets()).secretRoutes },
  { paths: [CONFIGS_PATH], load: async () => (await configs()).configRoutes },
  { paths: [EVALS_PATH], load: async () => (await evals()).evalRoutes },
  { paths: [CONTEXTS_PATH], load: async () => (await contexts()).contextRoutes },
];

/**
 * Returns a function that adds the routes of a path to the app, unless the app has them. An isolate
 * that only answers health checks, or only serves streams, reads no other routes.
 */
export function routesOnDemand(app: App): (path: string) => Promise<void> {
  const missing = new Set(ROUTE_GROUPS);
  return async (path) => {
    for (const group of missing) {
      if (!group.paths.some((start) => path === start || path.startsWith(`${start}/`))) continue;
      const addRoutes = await group.load();
      // Another request may have added them meanwhile.
      if (missing.delete(group)) addRoutes(app);
    }
  };
}
