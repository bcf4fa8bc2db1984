import { isLoopbackHost, isPrivateHost } from "./addresses";

/**
 * Where requests may go at all: public https on its own port, or an origin the operator allows by name. Gives why an address may
 * not be asked, in words that follow its name, or null. Names that resolve to private addresses are found when they are asked.
 */
export function addressProblem(url: URL, allowedOrigins: readonly string[]): string | null {
  if (url.protocol !== "https:" && url.protocol !== "http:") return "must begin with https://";
  if (url.username || url.password) return "may not hold a user name or password; write the key under api_key";
  return isAllowedOrigin(url, allowedOrigins) ? null : publicProblem(url);
}

function publicProblem(url: URL): string | null {
  if (isPrivateHost(url.hostname)) {
    return `names ${url.hostname}, which the service cannot or must not reach; an operator can allow it with ALLOWED_ORIGINS=${url.origin}`;
  }
  if (url.protocol !== "https:") return "must begin with https://";
  if (url.port !== "") return `may not name port ${url.port}; an operator can allow it with ALLOWED_ORIGINS=${url.origin}`;
  return null;
}

/** An entry is an exact origin. For loopback alone, `*` may stand for the port: `http://127.0.0.1:*`. */
export function isAllowedOrigin(url: URL, allowedOrigins: readonly string[]): boolean {
  return allowedOrigins.some((entry) => entry === url.origin || (isLoopbackHost(url.hostname) && entry === anyPortOf(url)));
}

function anyPortOf(url: URL): string {
  return `${url.protocol}//${url.hostname}:*`;
}

/** Whether a host is written as an address, so that there is no name to look up. */
export const isAddress = (hostname: string): boolean => hostname.startsWith("[") || /^\d+\.\d+\.\d+\.\d+$/.test(hostname);

/** Whether an address that a name resolved to is one that the public internet does not have; so is what is no address. */
export function isPrivateAddress(address: string): boolean {
  const written = address.includes(":") ? `http://[${address}]` : `http://${address}`;
  if (!URL.canParse(written)) return true;
  const { hostname } = new URL(written);
  return !isAddress(hostname) || isPrivateHost(hostname);
}
