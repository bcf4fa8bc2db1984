import { ClientError } from "./errors";

/** Rules for the servers that a key may be sent to. */

/** Returns the origin of an http or https address; `null` for any other text. */
export function toOrigin(text: string): string | null {
  const url = URL.canParse(text) ? new URL(text) : null;
  return url?.protocol === "http:" || url?.protocol === "https:" ? url.origin : null;
}

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** Whether a server is on this machine. */
export const isLoopback = (server: string): boolean => LOOPBACK.test(new URL(server).hostname);

/**
 * Why a key must not be sent to a server: `malformed` if the text cannot be a key, `unencrypted` if
 * others could read the key on the network. `null` if it may be sent.
 */
export function keyRisk(key: string, server: string): "malformed" | "unencrypted" | null {
  if (!/^[\x21-\x7e]{1,1000}$/.test(key)) return "malformed";
  return new URL(server).protocol === "http:" && !isLoopback(server) ? "unencrypted" : null;
}

/** Returns the URL of a path at the server. Throws ClientError if the path names another server. */
export function addressAt(server: string, path: string): URL {
  const url = new URL(path, server);
  if (url.origin === new URL(server).origin) return url;
  throw new ClientError("unexpected", `${server} names an address at ${url.origin}.`);
}
