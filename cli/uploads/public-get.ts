import { lookup, type LookupAddress, type LookupAllOptions } from "node:dns";
import type { ClientRequest, IncomingMessage } from "node:http";
import https from "node:https";
import type { LookupFunction } from "node:net";
import { isPrivateAddress } from "../../src/outgoing/address-rules";
import { isPrivateHost } from "../../src/outgoing/addresses";
import { VERSION } from "../invocation";
import type { Answer, Get } from "./fetch-file";

/**
 * Requests to addresses that a config names, from this machine: what only this machine or its
 * network can reach must not be read for them. Public https on its own port, and no name that leads
 * anywhere else.
 */

/** The address is not public, so a config may not name it. The message is part of a sentence. */
export class NotPublic extends Error {}

type Request = (
  address: string,
  options: https.RequestOptions,
  done: (message: IncomingMessage) => void,
) => ClientRequest;
type LookupCallback = (error: NodeJS.ErrnoException | null, found: LookupAddress[]) => void;
export type Resolve = (name: string, options: LookupAllOptions, done: LookupCallback) => void;
/** Each of them is the real one, but in tests. */
type Means = { request: Request; resolve: Resolve };

/**
 * Asks public addresses. Nothing of the user's goes along: no cookie, no key, no proxy. Throws
 * NotPublic.
 */
export const publicGet =
  ({ request, resolve }: Means = { request: https.request, resolve: lookup }): Get =>
  (address, signal) => {
    const problem = notPublic(address);
    if (problem !== null) return Promise.reject(new NotPublic(problem));
    const headers = {
      accept: "*/*",
      "accept-encoding": "identity",
      "user-agent": `massgen-edge/${VERSION}`,
    };
    return new Promise((done, fail) => {
      const options = { agent: false, headers, lookup: publicLookup(resolve), signal } as const;
      request(address.href, options, (message) => done(toAnswer(message)))
        .on("error", fail)
        .end();
    });
  };

/**
 * Why an address may not be asked, by what it says alone; null: its name must still be looked up.
 */
function notPublic({ protocol, username, password, port, hostname }: URL): string | null {
  if (protocol !== "https:") return "only https is fetched for a config";
  if (username !== "" || password !== "") return "it holds a user name or a password";
  if (port !== "") return `it names the port ${port}`;
  return isPrivateHost(hostname) ? `${hostname} is in no public network` : null;
}

/**
 * Looks names up for a connection, which then goes to what was looked at and nowhere else: a name
 * that answers otherwise the next time gains nothing.
 */
export const publicLookup =
  (resolve: Resolve): LookupFunction =>
  (name, options, done) =>
    resolve(name, { ...options, all: true }, (error, found) => {
      if (error) return done(error, []);
      const inside = found.find(({ address }) => isPrivateAddress(address));
      if (inside)
        return done(
          new NotPublic(`${name} leads to ${inside.address}, which is in no public network`),
          [],
        );
      const [first] = found;
      if (!first) return done(new Error(`${name} has no address`), []);
      return options.all === true ? done(null, found) : done(null, first.address, first.family);
    });

const toAnswer = (message: IncomingMessage): Answer => ({
  status: message.statusCode ?? 0,
  location: message.headers.location ?? null,
  body: message,
  close: () => void message.destroy(),
});
