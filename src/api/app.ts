import { Hono } from "hono";
import type { H, RouterRoute } from "hono/types";
import { LinearRouter } from "hono/router/linear-router";
import { SmartRouter } from "hono/router/smart-router";
import { TrieRouter } from "hono/router/trie-router";
import { isLoopbackHost } from "../outgoing/addresses";
import type { ApiEnv, App, Call } from "./api-env";
import {
  refuseCrossSite,
  refuseLoops,
  refuseUnlessSetUp,
  requireAccess,
  requireScope,
  requireSetUp,
} from "./access";
import { configRoutes } from "./configs/configs";
import { contextRoutes } from "./contexts/contexts";
import { documentationRoutes } from "./docs/documentation";
import { ApiError, toProblem } from "./errors";
import { evalRoutes } from "./evals/evals";
import { eventRoutes } from "./sessions/events";
import { keyRoutes } from "./keys/keys";
import { secretRoutes } from "./keys/secrets";
import { runRoutes } from "./sessions/runs";
import { sessionListRoutes } from "./sessions/session-list";
import { sessionFileRoutes } from "./sessions/session-file-routes";
import { sessionRoutes } from "./sessions/sessions";
import { ticketRoutes } from "./keys/tickets";
import { turnChangeRoutes } from "./sessions/turn-changes";

/** Response headers, unless a route sets its own: no caching, no frames, no active content. */
const DEFAULT_HEADERS = {
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
};

/**
 * Requires https for one year. Not sent to loopback hosts, because other local services may support
 * only http.
 */
const HTTPS_ONLY = "max-age=31536000";

/** Creates the HTTP API with all routes. Call `app.fetch(request, services)` for each request. */
export function createApp(): App {
  // The default router first compiles all routes, which delays the first response.
  const router = new SmartRouter<[H, RouterRoute]>({
    routers: [new LinearRouter(), new TrieRouter()],
  });
  const app: App = new Hono<ApiEnv>({ router });
  app.use("*", async (context, next) => {
    await next();
    context.res.headers.set("x-content-type-options", "nosniff");
    const { protocol, hostname } = new URL(context.req.url);
    if (protocol === "https:" && !isLoopbackHost(hostname))
      context.res.headers.set("strict-transport-security", HTTPS_ONLY);
    for (const [name, value] of Object.entries(DEFAULT_HEADERS)) {
      if (!context.res.headers.has(name)) context.res.headers.set(name, value);
    }
  });
  app.onError(toProblem);
  // Convert the error here: a thrown error would bypass the middleware that sets the headers.
  app.notFound((context) =>
    refuseUnknownRoute(context).catch((error: Error) => toProblem(error, context)),
  );
  app.use("/docs", requireSetUp);
  app.use("/openapi.json", requireSetUp);
  app.use("/api/*", refuseLoops, requireAccess, refuseCrossSite, requireScope);
  runRoutes(app);
  sessionListRoutes(app);
  sessionRoutes(app);
  sessionFileRoutes(app);
  turnChangeRoutes(app);
  ticketRoutes(app);
  keyRoutes(app);
  secretRoutes(app);
  eventRoutes(app);
  configRoutes(app);
  evalRoutes(app);
  contextRoutes(app);
  documentationRoutes(app);
  return app;
}

async function refuseUnknownRoute(context: Call): Promise<never> {
  await refuseUnlessSetUp(context);
  throw new ApiError("not_found", "Not found: no such route. See /docs.");
}
