import { createApp } from "../api/app";
import type { Env } from "../env";
import { toServices, type WaitingContext } from "./services";

const app = createApp();

/** Responds to a request to the API. */
export const serve = (
  request: Request,
  env: Env,
  ctx: WaitingContext,
): Response | Promise<Response> =>
  app.fetch(request, toServices(env, ctx, new URL(request.url).origin));
