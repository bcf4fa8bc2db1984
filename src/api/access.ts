import { createMiddleware } from "hono/factory";
import { matchedRoutes } from "hono/route";
import { METHOD_NAME_ALL } from "hono/router";
import { HOPS_HEADER } from "../outgoing/guarded-fetch";
import { logInfo } from "../redaction/log";
import { redactShapes } from "../redaction/redact";
import {
  decodedOnce,
  hasKeyInAddress,
  isAudited,
  LOCAL_PRINCIPAL,
  neededScope,
  type Principal,
  sessionOfStream,
  withIncluded,
} from "../tenancy/principal";
import { bearerOf, isLive, isUseToNote, judgeKey, parseKey } from "../tenancy/keys";
import { tenantOfTicket } from "../tenancy/tickets";
import type { ApiEnv, Call } from "./api-env";
import { ApiError } from "./errors";
import { knownSession } from "./routes";

/** Host names of this machine. */
export const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;
const MAX_ACTION_CHARS = 200;
const MAX_FROM_CHARS = 64;

/**
 * Lets in who may: a key in the header, a ticket for one stream, or anyone on this machine where the service is open to it, and
 * only under a loopback name, so that a page of another site that points its own name at this machine does not get in. No
 * other header says who somebody is.
 */
export const requireAccess = createMiddleware<ApiEnv>(async (context, next) => {
  context.set("requestId", crypto.randomUUID());
  const principal = await identify(context);
  context.set("principal", principal);
  await requireRate(context, principal);
  await next();
});

/** A request that a service of this kind sent comes from a team that asks the service which runs it, or another that asks back. */
export const refuseLoops = createMiddleware<ApiEnv>(async (context, next) => {
  if (context.req.header(HOPS_HEADER) !== undefined) throw new ApiError("loop_detected", LOOP);
  await next();
});

/** What holds nobody's data is open to everybody, but only of a service that has its master key and its first key. */
export const requireSetUp = createMiddleware<ApiEnv>(async (context, next) => {
  await refuseUnlessSetUp(context);
  await next();
});

/** Throws `access_closed`, with what is left to do, for a deployment that nobody has set up yet. */
export async function refuseUnlessSetUp(context: Call): Promise<void> {
  const { openOnLoopback, tenancy } = context.env;
  requireSettings(context);
  if (!openOnLoopback && (await tenancy.keys.isEmpty())) throw closed(NO_KEYS);
}

/** What a key may not do is refused, and told in the audit log with all that was done, before the answer leaves. */
export const requireScope = createMiddleware<ApiEnv>(async (context, next) => {
  const { method, path } = context.req;
  const { principal } = context.var;
  const scope = neededScope(method, path);
  // What no route serves ends with 404 or 405 whatever the key may do: the scope is not what is wrong.
  if (isServed(context) && !principal.scopes.has(scope)) {
    await note(context, 403);
    const message = `This key may not do that: it needs the scope \`${scope}\`, and has ${[...principal.scopes].join(", ") || "none"}.`;
    const headers = { "www-authenticate": `Bearer error="insufficient_scope", scope="${scope}"` };
    throw new ApiError("insufficient_scope", message, { scope, headers });
  }
  await next();
  if (isAudited(method, path)) await note(context, context.res.status);
});

/** Whether a route takes the request's method. Middleware and the refusals of other methods are routes for ALL methods. */
const isServed = (context: Call): boolean =>
  matchedRoutes(context).some(({ method }) => method !== METHOD_NAME_ALL);

async function note(context: Call, result: number): Promise<void> {
  const { method, url } = context.req;
  const { principal, requestId } = context.var;
  const from = context.req.header("cf-connecting-ip")?.slice(0, MAX_FROM_CHARS) ?? null;
  const action = redactShapes(`${method} ${decodedOnce(new URL(url).pathname)}`).slice(
    0,
    MAX_ACTION_CHARS,
  );
  const head = await context.env.tenancy
    .tenant(principal.tenant)
    .audit({ at: Date.now(), keyId: principal.keyId, action, from, requestId, result });
  // Rows that are dropped from the end of the log leave their trace here. A machine of one's own keeps no such secret from itself.
  if (principal.keyId !== null) logInfo("audit", principal.tenant, head.seq, head.hash);
}

async function identify(context: Call): Promise<Principal> {
  const { method, path } = context.req;
  const url = new URL(context.req.url);
  const { openOnLoopback } = context.env;
  requireSettings(context);
  if (hasKeyInAddress(url)) throw unauthorized(KEY_IN_ADDRESS);
  const authorization = context.req.header("authorization");
  if (authorization !== undefined) return ofKey(context, authorization);
  const isOpen = openOnLoopback && LOOPBACK.test(url.hostname);
  const ticket = url.searchParams.get("ticket");
  const session = sessionOfStream(method, path);
  if (ticket !== null && session !== null) return ofTicket(context, { ticket, session, isOpen });
  if (isOpen) return LOCAL_PRINCIPAL;
  return refuse(context);
}

/** What no request can do without: a master key, where others can reach the service, and limits that can be read. */
function requireSettings({ env: { openOnLoopback, tenancy } }: Call): void {
  if (!openOnLoopback && !tenancy.hasMasterKey) throw closed(NO_MASTER_KEY);
  if (tenancy.badLimit !== null) throw closed(noLimit(tenancy.badLimit));
}

/** Whatever is wrong with a key, the same work is done and the same is said of it. */
async function ofKey(context: Call, authorization: string): Promise<Principal> {
  const { keys, later } = context.env.tenancy;
  const parsed = parseKey(bearerOf(authorization) ?? "");
  const now = Date.now();
  const row = await keys.find(parsed?.id ?? "");
  const principal = judgeKey(row, parsed?.secret ?? "", now);
  if (!row || !principal) return refuse(context);
  if (isUseToNote(row, now)) later(keys.noteUse(row.id, now));
  return principal;
}

type Shown = { ticket: string; session: string; isOpen: boolean };

/** A ticket is its key's, to read one stream; it opens nothing once that key does not. */
async function ofTicket(context: Call, { ticket, session, isOpen }: Shown): Promise<Principal> {
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

/** Refusals are counted by where they come from, as far as the platform tells: guessing is no way to keep the service busy. */
async function refuse({ env, req }: Call): Promise<never> {
  const from = req.header("cf-connecting-ip")?.slice(0, MAX_FROM_CHARS);
  if (from !== undefined && !(await env.tenancy.withinRate(`refused ${from}`)))
    throw tooOften("Too many requests without a good key.");
  throw (await env.tenancy.keys.isEmpty()) ? closed(NO_KEYS) : unauthorized(NO_KEY);
}

/** By key first: a key that asks too often does not use up what its tenant's other keys have. */
async function requireRate({ env }: Call, { keyId, tenant }: Principal): Promise<void> {
  if (keyId === null) return;
  if (!(await env.tenancy.withinRate(keyId))) throw tooOften("This key asks too often.");
  if (!(await env.tenancy.withinTenantRate(tenant)))
    throw tooOften("The keys of this tenant together ask too often.");
}

const tooOften = (what: string): ApiError =>
  new ApiError("rate_limited", `${what} Ask again in some seconds.`, {
    headers: { "retry-after": "10" },
  });

const LOOP =
  "This request comes from a team of a service of this kind, which would start runs without end. Take this address out of the team's `base_url`s, tools and MCP servers.";
const NO_KEY =
  "Send a key of this service that is good: `Authorization: Bearer mge_…`. `npm run keys -- create` makes one.";
const KEY_IN_ADDRESS =
  "A key in an address is not taken, because addresses are kept in logs and histories. Take this one as lost and revoke it; send keys as `Authorization: Bearer …`.";
const NO_KEYS =
  "This service takes no requests: it has no keys yet. Whoever deployed it makes the first with `npm run keys -- create --tenant NAME --scopes admin --name NAME --remote`. Open access is for loopback only.";
const NO_MASTER_KEY =
  "This service takes no requests: its secret MASTER_KEY is missing. Whoever deployed it sets it, once and for ever, with `npx wrangler secret put MASTER_KEY` (32 random bytes in base64 will do).";
const noLimit = (name: string): string =>
  `This service takes no requests: its variable ${name} is no limit. Whoever deployed it writes a number there, or 0 for no limit, in wrangler.toml (for local use in .dev.vars), and deploys or starts it anew.`;

const unauthorized = (message: string): ApiError =>
  new ApiError("unauthorized", message, { headers: { "www-authenticate": "Bearer" } });
const closed = (message: string): ApiError =>
  new ApiError("access_closed", message, { headers: { "www-authenticate": "Bearer" } });

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
