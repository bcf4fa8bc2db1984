import { OpenAPIHono } from "@hono/zod-openapi";
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

/** Headers of responses that do not set their own: no caching, no framing, no content. */
const DEFAULT_HEADERS = {
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
};

/**
 * Requires https for one year. Not sent for loopback names: other local services may have only
 * http.
 */
const HTTPS_ONLY = "max-age=31536000";

/** The service's HTTP surface. `app.fetch(request, services)`. */
export function createApp(): App {
  const app: App = new OpenAPIHono<ApiEnv>();
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
  // An error thrown here would bypass the middleware above, and the response would lack headers.
  app.notFound((context) =>
    refusalHere(context).catch((error: Error) => toProblem(error, context)),
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

async function refusalHere(context: Call): Promise<never> {
  await refuseUnlessSetUp(context);
  throw new ApiError("not_found", "Not found: no such route. See /docs.");
}
