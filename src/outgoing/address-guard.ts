import {
  addressProblem,
  type AddressRules,
  isAddress,
  isAllowedOrigin,
  isPrivateAddress,
} from "./address-rules";
import type { Resolve } from "./names";

/** Thrown if requests to an address are not allowed. No request was sent. */
export class AddressRefusedError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "AddressRefusedError";
  }
}

/** Thrown if DNS has no such name. No request was sent. */
export class UnknownNameError extends Error {
  constructor(name: string) {
    super(`DNS lookup failed: ${name} has no address`);
    this.name = "UnknownNameError";
  }
}

/** Thrown if the DNS lookup of a name failed or was aborted. No request was sent. */
export class UnresolvedNameError extends Error {
  constructor(name: string, cause: unknown) {
    super(`The address of ${name} could not be looked up.`, { cause });
    this.name = "UnresolvedNameError";
  }
}

/** Thrown if a connection to the origin is not possible. No request was sent. */
export class UnreachableOriginError extends Error {
  constructor(host: string) {
    super(`cannot reach ${host}`);
    this.name = "UnreachableOriginError";
  }
}

/** Checks whether a connection to the URL's origin is possible. Throws only `signal.reason`. */
export type Probe = (url: URL, signal: AbortSignal | null) => Promise<boolean>;

export type OutgoingRules = AddressRules & {
  /** Well-known public origins. Their names need no lookup. */
  trustedOrigins: ReadonlySet<string>;
};

/** `probe` is called before a request to an allowed address. If omitted, there is no probe. */
type Options = OutgoingRules & { resolve: Resolve; probe?: Probe | undefined };

/**
 * Calls `send` if a request to this address is allowed and the origin can be reached. Otherwise
 * throws an error.
 */
export type AddressGuard = (
  url: URL,
  signal: AbortSignal | null,
  send: () => Promise<Response>,
) => Promise<Response>;

/**
 * Creates a guard that admits public https addresses and the operator's allowed origins. It looks
 * up a host name, and refuses the request if the name resolves to a private address. If the DNS
 * entry changes between lookup and connection, the platform still cannot reach private networks.
 *
 * The guard throws AddressRefusedError, UnknownNameError, UnresolvedNameError,
 * UnreachableOriginError, the signal's reason, and the errors of `send`.
 */
export function addressGuard({ resolve, probe, ...rules }: Options): AddressGuard {
  return async (url, signal, send) => {
    await requireAllowed(url, { ...rules, resolve, signal });
    if (probe && !(await probe(url, signal))) throw new UnreachableOriginError(url.host);
    return send();
  };
}

/**
 * A `fetch` that adds HOPS_HEADER to its requests. It does not follow redirects, so that
 * credentials are sent only to the origin of the request.
 */
export function markedFetch(send: typeof fetch): typeof fetch {
  return (input, init) => {
    const headers = new Headers(init?.headers ?? (input instanceof Request ? input.headers : {}));
    headers.set(HOPS_HEADER, "1");
    return send(input, { ...init, headers, redirect: "manual" });
  };
}

/** A `fetch` that sends only requests that the guard admits. */
export function guardedFetch(guard: AddressGuard, send: typeof fetch): typeof fetch {
  return async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    return guard(url, init?.signal ?? null, () => send(input, init));
  };
}

type Check = OutgoingRules & { resolve: Resolve; signal: AbortSignal | null };

async function requireAllowed(
  url: URL,
  { trustedOrigins, resolve, signal, ...rules }: Check,
): Promise<void> {
  const { allowedOrigins } = rules;
  const problem = addressProblem(url, rules);
  if (problem !== null) throw new AddressRefusedError(`The address ${problem}.`);
  if (
    isAllowedOrigin(url, allowedOrigins) ||
    trustedOrigins.has(url.origin) ||
    isAddress(url.hostname)
  )
    return;
  const addresses = await resolve(url.hostname, signal).catch((cause: unknown) => {
    throw new UnresolvedNameError(url.hostname, cause);
  });
  if (addresses.length === 0) throw new UnknownNameError(url.hostname);
  if (addresses.some(isPrivateAddress)) {
    throw new AddressRefusedError(
      `The name ${url.hostname} leads into a private network, which the service must not reach.`,
    );
  }
}

/**
 * Header of every outgoing request, except lookups of host names. A massgen-edge service refuses
 * requests with this header with status 508. So a team cannot call its own service, under any of
 * the names of the service.
 */
export const HOPS_HEADER = "massgen-hops";
