import { isLoopbackHost, isPrivateHost } from "./addresses";

export type AddressRules = {
  /** Origins the operator allows by name. */
  allowedOrigins: readonly string[];
  /** Origins of this service itself; absent: not known here. */
  ownOrigins?: readonly string[] | undefined;
  /** The variable by which an operator allows an origin. */
  variable?: "ALLOWED_ORIGINS" | "ALLOWED_TOOL_ORIGINS";
};

/**
 * Where requests may go at all: public https on its own port, or an origin the operator allows by name, and never to this service,
 * to the platform's own pages or to a debugger. Gives why an address may not be asked, in words that follow its name, or null.
 * Names that resolve to private addresses are found when they are asked.
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

/** Ports on which Chrome, Node and the Workers runtime offer their debuggers, from the first on. */
const isDebuggerPort = (port: string): boolean =>
  port === "9222" || (Number(port) >= 9229 && Number(port) <= 9249);

/** What no operator can allow: a team that asks its own service starts runs without end, with the operator's keys. */
export function forbiddenProblem(url: URL, ownOrigins: readonly string[]): string | null {
  if (ownOrigins.some((own) => isSameServer(url, own)))
    return "is this service's own address, which a team must not ask";
  if (/^\/+cdn-cgi(\/|$)/i.test(url.pathname))
    return "names /cdn-cgi, which belongs to the platform";
  if (isLoopbackHost(url.hostname) && isDebuggerPort(url.port))
    return `names port ${url.port}, on which debuggers listen`;
  return null;
}

/** Loopback has many names for one server. */
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

/** An entry is an exact origin. For loopback alone, `*` may stand for the port: `http://127.0.0.1:*`. */
export function isAllowedOrigin(url: URL, allowedOrigins: readonly string[]): boolean {
  return allowedOrigins.some(
    (entry) => entry === url.origin || (isLoopbackHost(url.hostname) && entry === anyPortOf(url)),
  );
}

function anyPortOf(url: URL): string {
  return `${url.protocol}//${url.hostname}:*`;
}

/** Whether a host is written as an address, so that there is no name to look up. */
export const isAddress = (hostname: string): boolean =>
  hostname.startsWith("[") || /^\d+\.\d+\.\d+\.\d+$/.test(hostname);

/** Whether an address that a name resolved to is one that the public internet does not have; so is what is no address. */
export function isPrivateAddress(address: string): boolean {
  const written = address.includes(":") ? `http://[${address}]` : `http://${address}`;
  if (!URL.canParse(written)) return true;
  const { hostname } = new URL(written);
  return !isAddress(hostname) || isPrivateHost(hostname);
}
