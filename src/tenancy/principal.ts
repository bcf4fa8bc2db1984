import { createHmac } from "node:crypto";

/** Who asks: the tenant everything of theirs belongs to, and what they may do. */

/** From the least to the most: each includes those before it. */
export const SCOPES = ["read", "run", "admin"] as const;
export type Scope = (typeof SCOPES)[number];

export type Principal = {
  tenant: string;
  /** The key that was shown; null where the service is open to this machine. */
  keyId: string | null;
  scopes: ReadonlySet<Scope>;
};

/** The tenant of a development service that is open to its own machine; no key can be made for it. */
export const LOCAL_TENANT = "local";

const TENANT = /^[a-z0-9_]{3,40}$/;

/** Whether a tenant may be called so. */
export const isTenant = (text: string): boolean => TENANT.test(text);

export const isScope = (text: string): text is Scope => SCOPES.some((scope) => scope === text);

/** The scopes with all that they include. */
export function withIncluded(scopes: Iterable<Scope>): ReadonlySet<Scope> {
  const highest = Math.max(-1, ...[...scopes].map((scope) => SCOPES.indexOf(scope)));
  return new Set(SCOPES.slice(0, highest + 1));
}

/** Whoever reaches a development service on its own machine may do everything there. */
export const LOCAL_PRINCIPAL: Principal = {
  tenant: LOCAL_TENANT,
  keyId: null,
  scopes: withIncluded(["admin"]),
};

/**
 * The name of a session's object. With the master key nobody who knows a session's id alone can name it; the lengths keep
 * (`ab`, `c`) and (`a`, `bc`) apart. Without one, in local development only, the pair itself.
 */
export function sessionName(masterKey: string | null, tenant: string, session: string): string {
  const pair = `${tenant.length}:${tenant}${session.length}:${session}`;
  return masterKey === null ? pair : createHmac("sha256", masterKey).update(pair).digest("hex");
}

/** What a request needs and what is written down of it. */

const ADMIN_PATHS = /^\/api\/(keys|audit|secrets)(\/|$)/;
const isReading = (method: string): boolean => method === "GET" || method === "HEAD";

/** The scope a request needs: keys, secrets and the audit log are for admins, looking is for all, the rest is work. */
export function neededScope(method: string, path: string): Scope {
  if (ADMIN_PATHS.test(path)) return "admin";
  return isReading(method) ? "read" : "run";
}

/** Whether the audit log tells of it: whatever changes something, and whatever only admins may see. */
export const isAudited = (method: string, path: string): boolean =>
  !isReading(method) || ADMIN_PATHS.test(path);

/** Names under which people put keys into addresses, where logs keep them. */
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

/** A path as people read it: its escapes decoded, once. What is no UTF-8 stays as it is written. */
export const decodedOnce = (path: string): string =>
  path.replace(/(?:%[0-9a-f]{2})+/gi, (escapes) => {
    try {
      return decodeURIComponent(escapes);
    } catch {
      return escapes;
    }
  });

/** Whether an address holds a key: in its query by its name or by what it looks like, in its path where an id belongs. */
export const hasKeyInAddress = ({ pathname, searchParams }: URL): boolean =>
  decodedOnce(pathname).split("/").some(isOurs) ||
  [...searchParams].some(
    ([name, value]) => KEY_PARAMETERS.has(name.toLowerCase()) || isOurs(value),
  );

const EVENTS_PATH = /^\/api\/sessions\/([a-z0-9_]{10,64})(\/turns\/[1-9]\d{0,8})?\/events$/;

/** The session whose stream is asked for: the only thing a ticket opens. */
export const sessionOfStream = (method: string, path: string): string | null =>
  method === "GET" ? (EVENTS_PATH.exec(path)?.[1] ?? null) : null;
