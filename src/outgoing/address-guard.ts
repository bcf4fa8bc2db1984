import {
  addressProblem,
  type AddressRules,
  isAddress,
  isAllowedOrigin,
  isPrivateAddress,
} from "./address-rules";
import type { Resolve } from "./names";

/** The address is not allowed. Nothing was sent. */
export class AddressRefusedError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "AddressRefusedError";
  }
}

/** The name does not exist. Nothing was sent. */
export class UnknownNameError extends Error {
  constructor(name: string) {
    super(`DNS lookup failed: ${name} has no address`);
    this.name = "UnknownNameError";
  }
}

/** The lookup failed or was aborted. Nothing was sent. */
export class UnresolvedNameError extends Error {
  constructor(name: string, cause: unknown) {
    super(`The address of ${name} could not be looked up.`, { cause });
    this.name = "UnresolvedNameError";
  }
}

/** No connection to the origin could be made. Nothing was sent. */
export class UnreachableOriginError extends Error {
  constructor(host: string) {
    super(`cannot reach ${host}`);
    this.name = "UnreachableOriginError";
  }
}

/** Whether an origin can be reached. Throws only `signal.reason`. */
export type Probe = (url: URL, signal: AbortSignal | null) => Promise<boolean>;

export type OutgoingRules = AddressRules & {
  /** Well-known public origins, whose names need no lookup. */
  trustedOrigins: ReadonlySet<string>;
};

/** `probe` is called for an allowed address; omitted: no probe. */
type Options = OutgoingRules & { resolve: Resolve; probe?: Probe | undefined };

/** Calls `send` if a request may, and can, be sent to this address. Throws otherwise. */
export type AddressGuard = (
  url: URL,
  signal: AbortSignal | null,
  send: () => Promise<Response>,
) => Promise<Response>;

/**
 * Admits public https addresses and allowed origins, and checks the addresses of a name before the
 * connection. Throws AddressRefusedError, UnknownNameError, UnresolvedNameError,
 * UnreachableOriginError, the signal's reason, and the errors of `send`. If a name changes between
 * lookup and connection, the platform protects: it reaches no private networks.
 */
export function addressGuard({ resolve, probe, ...rules }: Options): AddressGuard {
  return async (url, signal, send) => {
    await requireAllowed(url, { ...rules, resolve, signal });
    if (probe && !(await probe(url, signal))) throw new UnreachableOriginError(url.host);
    return send();
  };
}

/**
 * A `fetch` that marks its requests with HOPS_HEADER. It follows no redirect, so credentials reach
 * only their own origin.
 */
export function markedFetch(send: typeof fetch): typeof fetch {
  return (input, init) => {
    const headers = new Headers(init?.headers ?? (input instanceof Request ? input.headers : {}));
    headers.set(HOPS_HEADER, "1");
    return send(input, { ...init, headers, redirect: "manual" });
  };
}

/** A `fetch` that sends only what the guard admits. */
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
 * Set on every outgoing request. A massgen-edge service that receives it answers 508, so that a
 * team cannot call the service that runs it, under any name.
 */
export const HOPS_HEADER = "massgen-hops";
