import { OpenAPIHono } from "@hono/zod-openapi";
import type { ApiEnv, App, Call } from "./api-env";
import {
  LOOPBACK,
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
import { sessionFileRoutes } from "./sessions/session-files";
import { sessionRoutes } from "./sessions/sessions";
import { ticketRoutes } from "./keys/tickets";
import { turnChangeRoutes } from "./sessions/turn-changes";

/** Nothing here is a page to be framed, or an answer to be kept, unless it says so. */
const UNLESS_SAID = {
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
};

/** Browsers keep to https from now on, for a year. Not for names of this machine, whose other services may have only http. */
const HTTPS_ONLY = "max-age=31536000";

/** The service's HTTP surface. `app.fetch(request, services)`. */
export function createApp(): App {
  const app: App = new OpenAPIHono<ApiEnv>();
  app.use("*", async (context, next) => {
    await next();
    context.res.headers.set("x-content-type-options", "nosniff");
    const { protocol, hostname } = new URL(context.req.url);
    if (protocol === "https:" && !LOOPBACK.test(hostname))
      context.res.headers.set("strict-transport-security", HTTPS_ONLY);
    for (const [name, value] of Object.entries(UNLESS_SAID)) {
      if (!context.res.headers.has(name)) context.res.headers.set(name, value);
    }
  });
  app.onError(toProblem);
  // What this handler threw would pass by the middleware above, and its answer would lack the headers.
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
  throw new ApiError("not_found", "There is nothing at this address.");
}
