import { abortable } from "../../../src/async/abort";

/** The part of `connect()` of `cloudflare:sockets` that probes need. */
export type Connect = (address: { hostname: string; port: number }) => {
  opened: Promise<unknown>;
  closed: Promise<unknown>;
  close(): Promise<unknown>;
};

/**
 * A connection that takes longer counts as unreachable. Longer than a TCP handshake over bad lines,
 * including retransmissions.
 */
const WITHIN_MS = 5_000;

/**
 * Which origins can be reached from this machine. A probe opens a TCP connection and closes it. If
 * that fails, no request was sent. An origin is probed before its first call in a turn, and after
 * each call that it did not answer. Concurrent calls share a probe.
 *
 * Only for workerd on this machine: on Cloudflare's edge `connect()` is refused for addresses that
 * `fetch` reaches.
 */
export class OriginProbes {
  readonly #connect: Connect;
  readonly #withinMs: number;
  readonly #known = new Map<string, Promise<boolean>>();

  constructor(connect: Connect, withinMs: number = WITHIN_MS) {
    this.#connect = connect;
    this.#withinMs = withinMs;
  }

  /** Whether the origin of an allowed address can be reached. Throws only `signal.reason`. */
  async reaches(url: URL, signal: AbortSignal | null): Promise<boolean> {
    signal?.throwIfAborted();
    const known = this.#known.get(url.origin) ?? this.#begin(url);
    if (!signal) return known;
    return abortable(known, signal);
  }

  /** A call to this address was not answered: the next call probes its origin again. */
  forget(address: string): void {
    this.#known.delete(new URL(address).origin);
  }

  /** A new turn: each origin is probed again. */
  forgetAll(): void {
    this.#known.clear();
  }

  #begin(url: URL): Promise<boolean> {
    const probed = this.#probe(url);
    this.#known.set(url.origin, probed);
    void probed.then((isThere) => {
      if (!isThere && this.#known.get(url.origin) === probed) this.#known.delete(url.origin);
    });
    return probed;
  }

  async #probe({ hostname, port, protocol }: URL): Promise<boolean> {
    const socket = this.#connect({
      hostname: bare(hostname),
      port: Number(port) || (protocol === "http:" ? 80 : 443),
    });
    const late = Promise.withResolvers<false>();
    const timer = setTimeout(() => late.resolve(false), this.#withinMs);
    socket.closed.catch(() => undefined); // a failed connection rejects both promises
    try {
      return await Promise.race([socket.opened.then(() => true), late.promise]);
    } catch {
      return false;
    } finally {
      clearTimeout(timer);
      socket.close().catch(() => undefined);
    }
  }
}

/** The host name without the brackets that a URL puts around an IPv6 address. */
const bare = (hostname: string): string =>
  hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
