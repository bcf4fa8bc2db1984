import { isLoopbackHost, isPrivateHost } from "./addresses";
import { MAX_URL_CHARS } from "./limits";

export type BaseUrlResult = { ok: true; baseUrl: string } | { ok: false; detail: string };

/**
 * Whether a config may have requests sent to this address: public https, or an origin the operator allows by name. Returns it
 * without a trailing slash.
 */
export function checkBaseUrl(written: string, allowedOrigins: readonly string[]): BaseUrlResult {
  if (written.length > MAX_URL_CHARS || !URL.canParse(written))
    return refused("is no complete URL, such as https://api.example.com/v1");
  const url = new URL(written);
  if (url.protocol !== "https:" && url.protocol !== "http:") return refused("must begin with https://");
  if (url.username || url.password) return refused("may not hold a user name or password; write the key under api_key");
  if (url.search || url.hash) return refused("may not hold a query or fragment");
  const method = METHODS.exec(url.pathname)?.[0];
  if (method !== undefined) return refused(`is the address of one method: leave out \`${method}\``);
  const problem = isAllowedOrigin(url, allowedOrigins) ? null : publicProblem(url);
  if (problem) return refused(problem);
  return { ok: true, baseUrl: `${url.origin}${url.pathname}`.replace(/\/+$/, "") };
}

/** What is added to a base URL for each request; people copy it along. */
const METHODS = /\/(chat\/completions|completions|responses|messages)\/*$/;

function publicProblem(url: URL): string | null {
  if (isPrivateHost(url.hostname)) {
    return `names ${url.hostname}, which the service cannot or must not reach; an operator can allow it with ALLOWED_ORIGINS=${url.origin}`;
  }
  if (url.protocol !== "https:") return "must begin with https://";
  if (url.port !== "") return `may not name port ${url.port}; an operator can allow it with ALLOWED_ORIGINS=${url.origin}`;
  return null;
}

/** An entry is an exact origin. For loopback alone, `*` may stand for the port: `http://127.0.0.1:*`. */
function isAllowedOrigin(url: URL, allowedOrigins: readonly string[]): boolean {
  return allowedOrigins.some((entry) => entry === url.origin || (isLoopbackHost(url.hostname) && entry === anyPortOf(url)));
}

function anyPortOf(url: URL): string {
  return `${url.protocol}//${url.hostname}:*`;
}

/** The entries of the variable ALLOWED_ORIGINS: origins, separated by commas. */
export function parseAllowedOrigins(variable: string | undefined): string[] {
  const entries = (variable ?? "").split(",").map((entry) => entry.trim().replace(/\/+$/, ""));
  return entries.filter((entry) => entry !== "");
}

function refused(detail: string): BaseUrlResult {
  return { ok: false, detail };
}
