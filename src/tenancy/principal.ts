import { createHmac } from "node:crypto";

/** The caller of a request: its tenant and permissions. */

/** In ascending order: each includes the previous ones. */
export const SCOPES = ["read", "run", "admin"] as const;
export type Scope = (typeof SCOPES)[number];

export type Principal = {
  tenant: string;
  /** The presented key; `null` for local access without keys. */
  keyId: string | null;
  scopes: ReadonlySet<Scope>;
};

/** The tenant of a local development service without keys; no key can be created for it. */
export const LOCAL_TENANT = "local";

const TENANT = /^[a-z0-9_]{3,40}$/;

/** Whether the text is a valid tenant name. */
export const isTenant = (text: string): boolean => TENANT.test(text);

export const isScope = (text: string): text is Scope => SCOPES.some((scope) => scope === text);

/** The scopes with all that they include. */
export function withIncluded(scopes: Iterable<Scope>): ReadonlySet<Scope> {
  const highest = Math.max(-1, ...[...scopes].map((scope) => SCOPES.indexOf(scope)));
  return new Set(SCOPES.slice(0, highest + 1));
}

/** Local access to a development service has all permissions. */
export const LOCAL_PRINCIPAL: Principal = {
  tenant: LOCAL_TENANT,
  keyId: null,
  scopes: withIncluded(["admin"]),
};

/**
 * The name of a session's object. With the master key, a session's id alone does not suffice to
 * name it; the lengths distinguish (`ab`, `c`) from (`a`, `bc`). Without a master key, in local
 * development only, the pair itself.
 */
export function sessionName(masterKey: string | null, tenant: string, session: string): string {
  const pair = `${tenant.length}:${tenant}${session.length}:${session}`;
  return masterKey === null ? pair : createHmac("sha256", masterKey).update(pair).digest("hex");
}

/** The required scope of a request, and whether it is audited. */

const ADMIN_PATHS = /^\/api\/(keys|audit|secrets)(\/|$)/;
const isReading = (method: string): boolean => method === "GET" || method === "HEAD";

/**
 * The scope that a request needs: keys, secrets and the audit log need admin; reading needs read;
 * the rest needs run.
 */
export function neededScope(method: string, path: string): Scope {
  if (ADMIN_PATHS.test(path)) return "admin";
  return isReading(method) ? "read" : "run";
}

/** Whether the request is in the audit log: all changes, and everything that needs admin. */
export const isAudited = (method: string, path: string): boolean =>
  !isReading(method) || ADMIN_PATHS.test(path);

/** Query parameters in which users put keys, where logs would store them. */
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

const isOurs = (text: string): boolean => text.startsWith("mge_");

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
 * Whether an address contains a key: in its query by name or form, in its path in place of an id.
 */
export const hasKeyInAddress = ({ pathname, searchParams }: URL): boolean =>
  decodedOnce(pathname).split("/").some(isOurs) ||
  [...searchParams].some(
    ([name, value]) => KEY_PARAMETERS.has(name.toLowerCase()) || isOurs(value),
  );

const EVENTS_PATH = /^\/api\/sessions\/([a-z0-9_]{10,64})(\/turns\/[1-9]\d{0,8})?\/events$/;

/** The session of a requested stream, the only resource that a ticket grants. */
export const sessionOfStream = (method: string, path: string): string | null =>
  method === "GET" ? (EVENTS_PATH.exec(path)?.[1] ?? null) : null;
