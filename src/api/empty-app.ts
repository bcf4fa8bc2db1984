import { Hono } from "hono";
import type { H, RouterRoute } from "hono/types";
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
import { ApiError, toProblem } from "./errors";

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

/** Creates the HTTP API without its routes: access, headers and errors, which all routes share. */
export function createEmptyApp(): App {
  // The default router refuses routes that are added after the first request.
  const app: App = new Hono<ApiEnv>({ router: new TrieRouter<[H, RouterRoute]>() });
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
  return app;
}

async function refuseUnknownRoute(context: Call): Promise<never> {
  await refuseUnlessSetUp(context);
  throw new ApiError("not_found", "Not found: no such route. See /docs.");
}
