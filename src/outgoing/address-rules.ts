import { isLoopbackHost, isPrivateHost } from "./addresses";

export type AddressRules = {
  /** Origins that the operator allows. */
  allowedOrigins: readonly string[];
  /** Origins of this service; omitted if unknown. */
  ownOrigins?: readonly string[] | undefined;
  /** The variable with which an operator allows an origin. */
  variable?: "ALLOWED_ORIGINS" | "ALLOWED_TOOL_ORIGINS";
};

/**
 * Whether requests may be sent to an address: public https on its default port, or an origin that
 * the operator allows. Never this service, the platform's own pages, or a debugger. Returns the
 * reason as text after the address, or `null`. Names that resolve to private addresses are detected
 * on connecting.
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
 * Addresses that no operator can allow: a team that calls its own service would start runs without
 * end, with the operator's keys.
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

/** Loopback has several names for one server. */
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

/** An entry is an exact origin. For loopback only, the port may be `*`: `http://127.0.0.1:*`. */
export function isAllowedOrigin(url: URL, allowedOrigins: readonly string[]): boolean {
  return allowedOrigins.some(
    (entry) => entry === url.origin || (isLoopbackHost(url.hostname) && entry === anyPortOf(url)),
  );
}

function anyPortOf(url: URL): string {
  return `${url.protocol}//${url.hostname}:*`;
}

/** Whether a host is an IP address, so that no lookup is needed. */
export const isAddress = (hostname: string): boolean =>
  hostname.startsWith("[") || /^\d+\.\d+\.\d+\.\d+$/.test(hostname);

/** Whether a resolved address is not public. True for invalid addresses. */
export function isPrivateAddress(address: string): boolean {
  const written = address.includes(":") ? `http://[${address}]` : `http://${address}`;
  if (!URL.canParse(written)) return true;
  const { hostname } = new URL(written);
  return !isAddress(hostname) || isPrivateHost(hostname);
}
