import { abortable } from "../../../src/async/abort";

/** The part of `connect()` of `cloudflare:sockets` that probes need. */
export type Connect = (address: { hostname: string; port: number }) => {
  opened: Promise<unknown>;
  closed: Promise<unknown>;
  close(): Promise<unknown>;
};

/**
 * An origin that does not accept a connection within this time counts as unreachable. A TCP
 * handshake over a bad connection takes less, including retransmissions.
 */
const PROBE_LIMIT_MS = 5_000;

/**
 * Finds out which origins can be reached from this machine. A probe opens a TCP connection and
 * closes it. If the probe fails, the call is not sent, so it costs nothing. An origin is probed
 * before its first call in a turn, and again after each call that the origin did not answer.
 * Concurrent calls share a probe.
 *
 * Only for workerd on this machine: on Cloudflare's edge, `connect()` refuses addresses that
 * `fetch` can reach.
 */
export class OriginProbes {
  readonly #connect: Connect;
  readonly #limitMs: number;
  readonly #known = new Map<string, Promise<boolean>>();

  constructor(connect: Connect, limitMs: number = PROBE_LIMIT_MS) {
    this.#connect = connect;
    this.#limitMs = limitMs;
  }

  /** Whether the origin of an allowed address can be reached. Throws only `signal.reason`. */
  async reaches(url: URL, signal: AbortSignal | null): Promise<boolean> {
    signal?.throwIfAborted();
    const probe = this.#known.get(url.origin) ?? this.#begin(url);
    if (!signal) return probe;
    return abortable(probe, signal);
  }

  /**
   * To be called when a call to this address was not answered: the next call probes its origin
   * again.
   */
  forget(address: string): void {
    this.#known.delete(new URL(address).origin);
  }

  /** To be called when a new turn begins: each origin is probed again. */
  forgetAll(): void {
    this.#known.clear();
  }

  #begin(url: URL): Promise<boolean> {
    const probe = this.#probe(url);
    this.#known.set(url.origin, probe);
    void probe.then((isReachable) => {
      if (!isReachable && this.#known.get(url.origin) === probe) this.#known.delete(url.origin);
    });
    return probe;
  }

  async #probe({ hostname, port, protocol }: URL): Promise<boolean> {
    const socket = this.#connect({
      hostname: withoutBrackets(hostname),
      port: Number(port) || (protocol === "http:" ? 80 : 443),
    });
    const timeout = Promise.withResolvers<false>();
    const timer = setTimeout(() => timeout.resolve(false), this.#limitMs);
    socket.closed.catch(() => undefined); // a failed connection rejects both promises
    try {
      return await Promise.race([socket.opened.then(() => true), timeout.promise]);
    } catch {
      return false;
    } finally {
      clearTimeout(timer);
      socket.close().catch(() => undefined);
    }
  }
}

/** The host name without the brackets that a URL puts around an IPv6 address. */
const withoutBrackets = (hostname: string): string =>
  hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
