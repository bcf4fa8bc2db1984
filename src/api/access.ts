import { createMiddleware } from "hono/factory";
import { matchedRoutes } from "hono/route";
import { METHOD_NAME_ALL } from "hono/router";
import { HOPS_HEADER } from "../outgoing/address-guard";
import { isLoopbackHost } from "../outgoing/addresses";
import { logInfo } from "../redaction/log";
import { redactShapes } from "../redaction/redact";
import {
  decodedOnce,
  hasKeyInAddress,
  isAudited,
  LOCAL_PRINCIPAL,
  requiredScope,
  type Principal,
  sessionOfStream,
  withIncluded,
} from "../tenancy/principal";
import { bearerOf, isLive, shouldRecordUse, verifyKey, parseKey } from "../tenancy/keys";
import { tenantOfTicket } from "../tenancy/tickets";
import type { ApiEnv, Call } from "./api-env";
import { ApiError } from "./errors";
import { knownSession } from "./routes";

const MAX_ACTION_CHARS = 200;
const MAX_CLIENT_ADDRESS_CHARS = 64;

/**
 * Authenticates a request: by a key in the header, by a ticket for one stream, or without a key if
 * the service is open on loopback. A request without a key must also name a loopback host in its
 * URL. So a web page gets no access by a host name of its author that resolves to this machine. No
 * other header identifies a client.
 */
export const requireAccess = createMiddleware<ApiEnv>(async (context, next) => {
  context.set("requestId", crypto.randomUUID());
  const principal = await identify(context);
  context.set("principal", principal);
  await requireRate(context, principal);
  await next();
});

/**
 * Refuses requests that a massgen-edge service sent, because a team that calls its own service
 * would start runs in a loop.
 */
export const refuseLoops = createMiddleware<ApiEnv>(async (context, next) => {
  if (context.req.header(HOPS_HEADER) !== undefined) throw new ApiError("loop_detected", LOOP);
  await next();
});

/** Refuses requests if the service is not set up. For routes that need no key. */
export const requireSetUp = createMiddleware<ApiEnv>(async (context, next) => {
  await refuseUnlessSetUp(context);
  await next();
});

/** Throws `access_closed` with the next step if the deployment is not set up. */
export async function refuseUnlessSetUp(context: Call): Promise<void> {
  const { openOnLoopback, tenancy } = context.env;
  requireSettings(context);
  if (!openOnLoopback && (await tenancy.keys.isEmpty())) throw accessClosed(NO_KEYS);
}

/**
 * Refuses requests that need a scope which the key lacks. Writes the audit log before the response
 * is sent.
 */
export const requireScope = createMiddleware<ApiEnv>(async (context, next) => {
  const { method, path } = context.req;
  const { principal } = context.var;
  const scope = requiredScope(method, path);
  // If no route serves the request, the response is 404 or 405 for every scope.
  if (hasRoute(context) && !principal.scopes.has(scope)) {
    await recordAudit(context, 403);
    const message = `This request requires the scope \`${scope}\`. The key has ${[...principal.scopes].join(", ") || "no scope"}.`;
    const headers = { "www-authenticate": `Bearer error="insufficient_scope", scope="${scope}"` };
    throw new ApiError("insufficient_scope", message, { scope, headers });
  }
  await next();
  if (isAudited(method, path)) await recordAudit(context, context.res.status);
});

/**
 * Whether a route serves the request's method. Routes for ALL methods do not count: they are
 * middleware, or refuse the method.
 */
const hasRoute = (context: Call): boolean =>
  matchedRoutes(context).some(({ method }) => method !== METHOD_NAME_ALL);

async function recordAudit(context: Call, result: number): Promise<void> {
  const { method, url } = context.req;
  const { principal, requestId } = context.var;
  const from = context.req.header("cf-connecting-ip")?.slice(0, MAX_CLIENT_ADDRESS_CHARS) ?? null;
  const action = redactShapes(`${method} ${decodedOnce(new URL(url).pathname)}`).slice(
    0,
    MAX_ACTION_CHARS,
  );
  const head = await context.env.tenancy
    .tenant(principal.tenant)
    .audit({ at: Date.now(), keyId: principal.keyId, action, from, requestId, result });
  // The service's log shows whether somebody removed the newest rows of the audit log. A local
  // machine does not need this.
  if (principal.keyId !== null) logInfo("audit", principal.tenant, head.seq, head.hash);
}

async function identify(context: Call): Promise<Principal> {
  const { method, path } = context.req;
  const url = new URL(context.req.url);
  const { openOnLoopback } = context.env;
  requireSettings(context);
  if (hasKeyInAddress(url)) throw unauthorized(KEY_IN_ADDRESS);
  const authorization = context.req.header("authorization");
  if (authorization !== undefined) return authenticateKey(context, authorization);
  const isOpen = openOnLoopback && isLoopbackHost(url.hostname);
  const ticket = url.searchParams.get("ticket");
  const session = sessionOfStream(method, path);
  if (ticket !== null && session !== null)
    return authenticateTicket(context, { ticket, session, isOpen });
  if (isOpen) return LOCAL_PRINCIPAL;
  return refuse(context);
}

/** Throws `access_closed` for a public service without a master key, or for an invalid limit. */
function requireSettings({ env: { openOnLoopback, tenancy } }: Call): void {
  if (!openOnLoopback && !tenancy.hasMasterKey) throw accessClosed(NO_MASTER_KEY);
  if (tenancy.badLimit !== null) throw accessClosed(invalidLimitMessage(tenancy.badLimit));
}

/** The work and the response are the same for every invalid key. */
async function authenticateKey(context: Call, authorization: string): Promise<Principal> {
  const { keys, later } = context.env.tenancy;
  const parsed = parseKey(bearerOf(authorization) ?? "");
  const now = Date.now();
  const row = await keys.find(parsed?.id ?? "");
  const principal = verifyKey(row, parsed?.secret ?? "", now);
  if (!row || !principal) return refuse(context);
  if (shouldRecordUse(row, now)) later(keys.noteUse(row.id, now));
  return principal;
}

type PresentedTicket = { ticket: string; session: string; isOpen: boolean };

/** A ticket permits reading one stream while the key that issued the ticket is valid. */
async function authenticateTicket(
  context: Call,
  { ticket, session, isOpen }: PresentedTicket,
): Promise<Principal> {
  const tenant = tenantOfTicket(ticket);
  if (tenant === null) return refuse(context);
  const principal = { tenant, keyId: null, scopes: withIncluded(["read"]) };
  const stub = await knownSession(context, principal, session);
  const redeemed = await stub?.redeemTicket(ticket);
  if (!redeemed) return refuse(context);
  if (redeemed.keyId === null) return isOpen ? principal : refuse(context);
  const row = await context.env.tenancy.keys.find(redeemed.keyId);
  return row && isLive(row, Date.now()) ? { ...principal, keyId: row.id } : refuse(context);
}

/**
 * Throws the refusal of a request without a valid key. A client address has a rate limit for
 * refusals, so that a client that guesses keys cannot overload the service.
 */
async function refuse({ env, req }: Call): Promise<never> {
  const address = req.header("cf-connecting-ip")?.slice(0, MAX_CLIENT_ADDRESS_CHARS);
  if (address !== undefined && !(await env.tenancy.withinRate(`refused ${address}`)))
    throw rateLimited("Too many requests without a valid key.");
  throw (await env.tenancy.keys.isEmpty()) ? accessClosed(NO_KEYS) : unauthorized(NO_KEY);
}

/** Checks the key's limit first, so that one key cannot use up the limit of its tenant. */
async function requireRate({ env }: Call, { keyId, tenant }: Principal): Promise<void> {
  if (keyId === null) return;
  if (!(await env.tenancy.withinRate(keyId))) throw rateLimited("Too many requests with this key.");
  if (!(await env.tenancy.withinTenantRate(tenant)))
    throw rateLimited("Too many requests with the keys of this tenant.");
}

const rateLimited = (reason: string): ApiError =>
  new ApiError("rate_limited", `${reason} Retry in some seconds.`, {
    headers: { "retry-after": "10" },
  });

const LOOP =
  "This request was sent by a team of a massgen-edge service and would start runs in a loop. Remove this address from the team's `base_url`s, tools and MCP servers.";
const NO_KEY =
  "Invalid or missing API key. Send `Authorization: Bearer mge_…`. `npm run keys -- create` creates a key.";
const KEY_IN_ADDRESS =
  "Keys in addresses are refused, because logs and histories store addresses. Treat this key as leaked: revoke it. Send keys as `Authorization: Bearer …`.";
const NO_KEYS =
  "The service is not set up: it has no keys. Its operator creates the first key with `npm run keys -- create --tenant NAME --scopes admin --name NAME --remote`. Access without a key works only on loopback.";
const NO_MASTER_KEY =
  "The service is not set up: its secret MASTER_KEY is missing. Its operator sets it with `npx wrangler secret put MASTER_KEY` (for example 32 random bytes in base64), and never changes it.";
const invalidLimitMessage = (name: string): string =>
  `The service is not set up: its variable ${name} is not a valid limit. Its operator sets a number, or 0 for no limit, in wrangler.toml (for local use in .dev.vars), and deploys or restarts the service.`;

const unauthorized = (message: string): ApiError =>
  new ApiError("unauthorized", message, { headers: { "www-authenticate": "Bearer" } });
const accessClosed = (message: string): ApiError =>
  new ApiError("access_closed", message, { headers: { "www-authenticate": "Bearer" } });

/** Refuses requests that a browser sends for a page of another site, for example to start runs. */
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

/** For a request from a page, browsers send at least one of both headers. Programs send neither. */
function isSameSite(site: string | undefined, origin: string | undefined, url: string): boolean {
  if (site !== undefined && site !== "same-origin" && site !== "none") return false;
  return origin === undefined || origin === new URL(url).origin;
}
