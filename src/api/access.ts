import { createMiddleware } from "hono/factory";
import { ApiError } from "./errors";
import type { ApiEnv } from "./routes";
import { LOCAL_PRINCIPAL } from "../tenancy/principal";

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/**
 * Until there are keys, only a development service on this machine is open, and only under a loopback name: a page of another
 * site that points its own name at this machine does not get in.
 */
export const requireAccess = createMiddleware<ApiEnv>(async (context, next) => {
  const { hostname } = new URL(context.req.url);
  if (!context.env.openOnLoopback || !LOOPBACK.test(hostname)) {
    throw new ApiError(
      "access_closed",
      "This service takes no requests: it has no keys yet, and open access is for loopback only.",
      {
        headers: { "www-authenticate": "Bearer" },
      },
    );
  }
  context.set("principal", LOCAL_PRINCIPAL);
  await next();
});

/** Pages of other sites may not make a browser start or cancel runs here. */
export const refuseCrossSite = createMiddleware<ApiEnv>(async (context, next) => {
  const { method, url } = context.req;
  if (
    method !== "GET" &&
    method !== "HEAD" &&
    !isSameSite(context.req.header("sec-fetch-site"), context.req.header("origin"), url)
  ) {
    throw new ApiError("cross_site_refused", "Requests from pages of other sites are refused.");
  }
  await next();
});

/** Browsers send at least one of the two headers with such a request; programs send neither. */
function isSameSite(site: string | undefined, origin: string | undefined, url: string): boolean {
  if (site !== undefined && site !== "same-origin" && site !== "none") return false;
  return origin === undefined || origin === new URL(url).origin;
}
