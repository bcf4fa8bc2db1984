import type { Scope } from "./principal";

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
