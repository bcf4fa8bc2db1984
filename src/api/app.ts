import { Hono } from "hono";
import { refuseCrossSite, requireAccess } from "./access";
import { ApiError, toProblem } from "./errors";
import { eventRoutes } from "./events";
import { type ApiEnv, type App, route } from "./routes";
import { runRoutes } from "./runs";
import { sessionRoutes } from "./sessions";

/** The service's HTTP surface. `app.fetch(request, services)`. */
export function createApp(): App {
  const app: App = new Hono<ApiEnv>();
  app.use("*", async (context, next) => {
    await next();
    context.res.headers.set("x-content-type-options", "nosniff");
    if (!context.res.headers.has("cache-control")) context.res.headers.set("cache-control", "no-store");
  });
  app.onError(toProblem);
  app.notFound(() => {
    throw new ApiError("not_found", "There is nothing at this address.");
  });
  route(app, "/healthz", { get: (context) => context.json({ status: "ok" }) });
  app.use("/api/*", requireAccess, refuseCrossSite);
  runRoutes(app);
  sessionRoutes(app);
  eventRoutes(app);
  return app;
}
