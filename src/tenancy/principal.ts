import { createHmac } from "node:crypto";

/** Scopes in ascending order. Each scope includes the previous ones. */
export const SCOPES = ["read", "run", "admin"] as const;
export type Scope = (typeof SCOPES)[number];

/** The caller of a request: its tenant and permissions. */
export type Principal = {
  tenant: string;
  /** The presented key; `null` for local access without keys. */
  keyId: string | null;
  scopes: ReadonlySet<Scope>;
};

/** The tenant for local access without keys. No key can be created for this tenant. */
export const LOCAL_TENANT = "local";

const TENANT_PATTERN = /^[a-z0-9_]{3,40}$/;

/** Whether the text is a valid tenant name. */
export const isTenant = (text: string): boolean => TENANT_PATTERN.test(text);

export const isScope = (text: string): text is Scope => SCOPES.some((scope) => scope === text);

/** These scopes and all scopes that they include. */
export function withIncluded(scopes: Iterable<Scope>): ReadonlySet<Scope> {
  const highest = Math.max(-1, ...[...scopes].map((scope) => SCOPES.indexOf(scope)));
  return new Set(SCOPES.slice(0, highest + 1));
}

/** The principal for local access without keys. It has all permissions. */
export const LOCAL_PRINCIPAL: Principal = {
  tenant: LOCAL_TENANT,
  keyId: null,
  scopes: withIncluded(["admin"]),
};

/**
 * The name of a session's Durable Object. The name is an HMAC of tenant and session id, so the
 * session id alone does not suffice to compute it. The lengths in the text distinguish (`ab`, `c`)
 * from (`a`, `bc`). Without a master key, which only local development permits, the name is the
 * text itself.
 */
export function sessionName(masterKey: string | null, tenant: string, session: string): string {
  const pair = `${tenant.length}:${tenant}${session.length}:${session}`;
  return masterKey === null ? pair : createHmac("sha256", masterKey).update(pair).digest("hex");
}

const ADMIN_PATHS = /^\/api\/(keys|audit|secrets)(\/|$)/;
const isRead = (method: string): boolean => method === "GET" || method === "HEAD";

/**
 * The scope that a request needs. Keys, secrets and the audit log need `admin`. Other read requests
 * need `read`, and all other requests need `run`.
 */
export function requiredScope(method: string, path: string): Scope {
  if (ADMIN_PATHS.test(path)) return "admin";
  return isRead(method) ? "read" : "run";
}

/** Whether the request is recorded in the audit log: all changes, and all that needs `admin`. */
export const isAudited = (method: string, path: string): boolean =>
  !isRead(method) || ADMIN_PATHS.test(path);

/** Names of query parameters in which users put keys by mistake. Logs would store such keys. */
const KEY_PARAMETERS = new Set([
  "api_key",
  "apikey",
  "api-key",
  "key",
  "token",
  "access_token",
  "authorization",
  "bearer",
]);

/** Whether a text looks like an API key of this service. */
const isOwnKey = (text: string): boolean => text.startsWith("mge_");

/** A path with its escapes decoded once. Bytes that are not UTF-8 stay escaped. */
export const decodedOnce = (path: string): string =>
  path.replace(/(?:%[0-9a-f]{2})+/gi, (escapes) => {
    try {
      return decodeURIComponent(escapes);
    } catch {
      return escapes;
    }
  });

/**
 * Whether a URL contains a key: a query parameter with a name or a value of a key, or a path
 * segment that looks like a key.
 */
export const hasKeyInAddress = ({ pathname, searchParams }: URL): boolean =>
  decodedOnce(pathname).split("/").some(isOwnKey) ||
  [...searchParams].some(
    ([name, value]) => KEY_PARAMETERS.has(name.toLowerCase()) || isOwnKey(value),
  );

const EVENTS_PATH = /^\/api\/sessions\/([a-z0-9_]{10,64})(\/turns\/[1-9]\d{0,8})?\/events$/;

/**
 * The id of the session whose event stream is requested; `null` for other requests. Only such
 * requests can use a ticket.
 */
export const sessionOfStream = (method: string, path: string): string | null =>
  method === "GET" ? (EVENTS_PATH.exec(path)?.[1] ?? null) : null;
