import { getPath } from "hono/utils/url";
import { createEmptyApp } from "../api/empty-app";
import type { Env } from "../env";
import { routesOnDemand } from "./route-groups";
import { toServices, type WaitingContext } from "./services";

const app = createEmptyApp();
const addRoutesOf = routesOnDemand(app);

/** Responds to a request to the API. */
export async function serve(request: Request, env: Env, ctx: WaitingContext): Promise<Response> {
  await addRoutesOf(getPath(request)); // as the router reads it
  return app.fetch(request, toServices(env, ctx, new URL(request.url).origin));
}
