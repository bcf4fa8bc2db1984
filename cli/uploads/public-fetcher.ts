import { lookup, type LookupAddress, type LookupAllOptions } from "node:dns";
import type { ClientRequest, IncomingMessage } from "node:http";
import https from "node:https";
import type { LookupFunction } from "node:net";
import { isPrivateAddress } from "../../src/outgoing/address-rules";
import { isPrivateHost } from "../../src/outgoing/addresses";
import { VERSION } from "../invocation";
import type { Fetcher, FileResponse } from "./fetch-file";

/**
 * Requests from this machine to the https addresses in a config. Another person may have written
 * the config, so it must not reach servers that only this machine or its network can reach. Only
 * public https addresses with the default port are allowed, and host names must resolve to public
 * IP addresses.
 */

/** The error for an address in a config that is not allowed. The message is part of a sentence. */
export class NotPublicError extends Error {}

type RequestFunction = (
  address: string,
  options: https.RequestOptions,
  done: (message: IncomingMessage) => void,
) => ClientRequest;
type LookupCallback = (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void;
export type Resolver = (name: string, options: LookupAllOptions, done: LookupCallback) => void;
/** Network functions of Node. Tests replace them. */
type NetworkFunctions = { request: RequestFunction; resolve: Resolver };

/**
 * A fetcher for public addresses. It sends no cookie and no key, and uses no proxy. It throws
 * NotPublicError for other addresses.
 */
export const fetchPublic =
  ({ request, resolve }: NetworkFunctions = { request: https.request, resolve: lookup }): Fetcher =>
  (address, signal) => {
    const problem = refusalOf(address);
    if (problem !== null) return Promise.reject(new NotPublicError(problem));
    const headers = {
      accept: "*/*",
      "accept-encoding": "identity",
      "user-agent": `massgen-edge/${VERSION}`,
    };
    return new Promise((done, fail) => {
      const options = { agent: false, headers, lookup: publicLookup(resolve), signal } as const;
      request(address.href, options, (message) => done(toFileResponse(message)))
        .on("error", fail)
        .end();
    });
  };

/**
 * Why the URL itself is not allowed; `null` if it is allowed. The caller must still resolve the
 * host name and check its IP addresses.
 */
function refusalOf({ protocol, username, password, port, hostname }: URL): string | null {
  if (protocol !== "https:") return "a config may contain only https addresses";
  if (username !== "" || password !== "") return "it contains a user name or a password";
  if (port !== "") return `it contains port ${port}, and only the default port is allowed`;
  return isPrivateHost(hostname) ? `${hostname} is not a public address` : null;
}

/**
 * Resolves a name for a connection and refuses private addresses. The connection uses the checked
 * address, so a later DNS answer cannot redirect it (DNS rebinding).
 */
export const publicLookup =
  (resolve: Resolver): LookupFunction =>
  (name, options, done) =>
    resolve(name, { ...options, all: true }, (error, addresses) => {
      if (error) return done(error, []);
      const privateAddress = addresses.find(({ address }) => isPrivateAddress(address));
      if (privateAddress)
        return done(
          new NotPublicError(
            `${name} resolves to ${privateAddress.address}, which is not a public address`,
          ),
          [],
        );
      const [first] = addresses;
      if (!first) return done(new Error(`${name} has no address`), []);
      return options.all === true ? done(null, addresses) : done(null, first.address, first.family);
    });

const toFileResponse = (message: IncomingMessage): FileResponse => ({
  status: message.statusCode ?? 0,
  location: message.headers.location ?? null,
  body: message,
  close: () => void message.destroy(),
});
