import { isLoopbackHost, isPrivateHost } from "./addresses";

/** Rules for the addresses to which requests may be sent. */
export type AddressRules = {
  /** Origins that the operator allows. */
  allowedOrigins: readonly string[];
  /** Origins of this service; omitted if unknown. */
  ownOrigins?: readonly string[] | undefined;
  /** Name of the configuration variable with which an operator allows an origin. */
  variable?: "ALLOWED_ORIGINS" | "ALLOWED_TOOL_ORIGINS";
};

/**
 * The reason why requests may not be sent to an address; `null` if they may. The reason is a clause
 * that follows the address. Allowed are public https on its default port, and origins that the
 * operator allows. This service, the platform's own pages and debuggers are never allowed. Names
 * that resolve to private addresses are only detected by `addressGuard`.
 */
export function addressProblem(
  url: URL,
  { allowedOrigins, ownOrigins = [], variable = "ALLOWED_ORIGINS" }: AddressRules,
): string | null {
  if (url.protocol !== "https:" && url.protocol !== "http:") return "must begin with https://";
  if (url.username || url.password)
    return "may not hold a user name or password; write the key under api_key";
  return (
    forbiddenProblem(url, ownOrigins) ??
    (isAllowedOrigin(url, allowedOrigins) ? null : publicProblem(url, variable))
  );
}

/** Debugger ports of Chrome, Node and the Workers runtime. */
const isDebuggerPort = (port: string): boolean =>
  port === "9222" || (Number(port) >= 9229 && Number(port) <= 9249);

/**
 * The reason why an address is forbidden even if the operator allows it; `null` if it is not. For
 * example, a team that calls its own service would start runs endlessly, with the operator's keys.
 */
export function forbiddenProblem(url: URL, ownOrigins: readonly string[]): string | null {
  if (ownOrigins.some((own) => isSameServer(url, own)))
    return "is this service's own address, which a team must not ask";
  if (/^\/+cdn-cgi(\/|$)/i.test(url.pathname))
    return "names /cdn-cgi, which belongs to the platform";
  if (isLoopbackHost(url.hostname) && isDebuggerPort(url.port))
    return `names port ${url.port}, on which debuggers listen`;
  return null;
}

/** Whether a URL has the origin `own`. On loopback, several host names refer to the same server. */
function isSameServer(url: URL, own: string): boolean {
  if (!URL.canParse(own)) return false;
  const { origin, hostname, port } = new URL(own);
  return (
    url.origin === origin ||
    (isLoopbackHost(hostname) && isLoopbackHost(url.hostname) && url.port === port)
  );
}

function publicProblem(url: URL, variable: string): string | null {
  if (isPrivateHost(url.hostname)) {
    return `names ${url.hostname}, which the service cannot or must not reach; an operator can allow it with ${variable}=${url.origin}`;
  }
  if (url.protocol !== "https:") return "must begin with https://";
  if (url.port !== "")
    return `may not name port ${url.port}; an operator can allow it with ${variable}=${url.origin}`;
  return null;
}

/**
 * Whether a list of allowed origins contains the URL's origin. Only for loopback, an entry can have
 * `*` as its port: `http://127.0.0.1:*`.
 */
export function isAllowedOrigin(url: URL, allowedOrigins: readonly string[]): boolean {
  return allowedOrigins.some(
    (entry) => entry === url.origin || (isLoopbackHost(url.hostname) && entry === anyPortOf(url)),
  );
}

function anyPortOf(url: URL): string {
  return `${url.protocol}//${url.hostname}:*`;
}

/** Whether a host is an IP address. An IP address needs no lookup. */
export const isAddress = (hostname: string): boolean =>
  hostname.startsWith("[") || /^\d+\.\d+\.\d+\.\d+$/.test(hostname);

/** Whether a resolved address is not public. True for invalid addresses. */
export function isPrivateAddress(address: string): boolean {
  const url = address.includes(":") ? `http://[${address}]` : `http://${address}`;
  if (!URL.canParse(url)) return true;
  const { hostname } = new URL(url);
  return !isAddress(hostname) || isPrivateHost(hostname);
}
