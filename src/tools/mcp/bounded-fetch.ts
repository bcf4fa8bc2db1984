import { SecretMissing } from "./environment";
import {
  LONGEST_CALL_MS,
  MAX_LISTING_BYTES,
  MAX_RESULT_BYTES,
  RESUME_TRIES,
  STREAM_HEADERS_MS,
} from "./limits";
import { readOutgoing } from "./schema";
import type { SentSecrets } from "./server-secrets";
import type { MutexLease } from "../../async/mutex";
import { LARGE_BYTES } from "../results";

/** A response that was not taken. `reached`: whether the server may have done what it was asked. */
export class ResponseRefused extends Error {
  override readonly name = "ResponseRefused";
  readonly code: "redirected" | "too_large" | "no_headers";
  readonly reached: boolean;

  constructor(code: ResponseRefused["code"], reached: boolean, message: string) {
    super(message);
    this.code = code;
    this.reached = reached;
  }
}

/** What callers need of a response; cookies, refreshes and all the rest stay outside. */
const KEPT_HEADERS = [
  "content-type",
  "www-authenticate",
  "mcp-session-id",
  "mcp-protocol-version",
  "retry-after",
];
const MAX_HEADER_CHARS = 8_192;

/** The stream of a call ended without a reply, and cannot be taken up again. */
export class StreamEnded extends Error {
  override readonly name = "StreamEnded";
}

/** What is known of one call while it is under way. */
export type CallWatch = {
  /** Aborted, with the reason, as soon as no reply can come any more. */
  failed: AbortSignal;
  /** To be called with each mark of the server's from which its stream can be taken up. */
  resumable: (mark: string) => void;
  /** Cuts whatever is still open of it; a reply that comes later finds nobody. */
  end: () => void;
};

/** `headersCame`: told when the first headers of a response to it are there. `large`: acquired when its replies turn out to be large. */
export type WatchOptions = { headersCame?: (() => void) | undefined; large: MutexLease };

type Watched = {
  headersCame: () => void;
  large: MutexLease;
  open: AbortController;
  failed: AbortController;
  /** From where the stream can be taken up; null: it cannot. */
  mark: string | null;
  /** Tries in a row to take the stream up that failed. */
  lost: number;
  timer: ReturnType<typeof setTimeout> | undefined;
};

/** For the client to read what came last. */
const READING_MS = 1_000;

type Options = {
  fetch: typeof fetch;
  /** The server's address: only it is sent `headers`. */
  url: string;
  /** The static headers of a request to it, by the request's method. Throws `SecretMissing`. */
  headers: (method: string) => Promise<ReadonlyMap<string, string>>;
  /**
   * Asked before a request to any other address that carries a body or says who we are, as those to token endpoints do. Throws
   * `SecretMissing` where what we would show is not bound to that address, which an authorisation server's metadata chooses.
   */
  mayShow: (use: { url: string; method: string }) => Promise<void>;
  /** Told what is sent to show who we are. */
  secrets: SentSecrets;
  /** Taken by whatever is no call until its headers are there; absent: nothing is. */
  enter?: ((signal: AbortSignal) => Promise<() => void>) | undefined;
};

/**
 * The way out of one server's client. It follows no redirect, counts every body while it streams, sends static headers to the
 * server's own address and nowhere else (not to an authorisation server either), and can cut what a call still has open.
 */
export class BoundedFetch {
  readonly #options: Options;
  /** What a server may still send beside results of calls, in bytes. */
  #listingLeft = MAX_LISTING_BYTES;
  readonly #calls = new Map<string, Watched>();

  constructor(options: Options) {
    this.#options = options;
  }

  /** Before a new listing: what earlier ones took is forgotten. */
  allowListing(): void {
    this.#listingLeft = MAX_LISTING_BYTES;
  }

  /** Before a call is sent under this key. The caller also releases the lease. */
  watch(key: string, { headersCame = () => undefined, large }: WatchOptions): CallWatch {
    const watched: Watched = {
      headersCame,
      large,
      open: new AbortController(),
      failed: new AbortController(),
      mark: null,
      lost: 0,
      timer: undefined,
    };
    this.#calls.set(key, watched);
    return {
      failed: watched.failed.signal,
      resumable: (mark) => {
        watched.mark = mark;
      },
      end: () => {
        clearTimeout(watched.timer);
        this.#calls.delete(key);
        watched.open.abort(new Error("the call is over"));
      },
    };
  }

  readonly fetch = async (input: string | URL, init: RequestInit = {}): Promise<Response> => {
    const { callKey } = readOutgoing(init.body);
    const own = new URL(input).href === this.#options.url;
    const method = init.method ?? "GET";
    const headers = new Headers(init.headers);
    if (own) {
      const given = await this.#ownHeaders(method);
      // As a server answers that has no such stream, and no session to end: the protocol can do without either.
      if (given === null) return new Response(null, { status: 405 });
      // What the protocol sets stands: a static header cannot pose as a session or a version.
      for (const [name, value] of given) if (!headers.has(name)) headers.set(name, value);
    } else if (init.body != null || headers.has("authorization")) {
      await this.#options.mayShow({ url: new URL(input).href, method });
    }
    const resumed =
      own && method === "GET" ? this.#callAt(headers.get("last-event-id")) : undefined;
    const call = resumed ?? (callKey === null ? undefined : this.#calls.get(callKey));
    this.#options.secrets.addHeader(headers.get("authorization") ?? "");
    const signals = [init.signal, call?.open.signal].filter(
      (signal) => signal !== null && signal !== undefined,
    );
    const isStream = method === "GET" && own;
    const sent = this.#send(
      input,
      { ...init, headers },
      { signals, isStream, isCall: call !== undefined },
    );
    const response = await (resumed ? takenUp(sent, resumed) : sent);
    call?.headersCame();
    if (response.status >= 300 && response.status < 400) {
      await response.body?.cancel().catch(() => undefined);
      throw new ResponseRefused(
        "redirected",
        false,
        "answered with a redirect, which is not followed",
      );
    }
    return this.#bounded(response, call);
  };

  #callAt(mark: string | null): Watched | undefined {
    return mark === null ? undefined : [...this.#calls.values()].find((call) => call.mark === mark);
  }

  async #send(
    input: string | URL,
    init: RequestInit,
    { signals, isStream, isCall }: { signals: AbortSignal[]; isStream: boolean; isCall: boolean },
  ): Promise<Response> {
    const leave = isCall ? undefined : await this.#options.enter?.(AbortSignal.any(signals));
    const late = new AbortController();
    const timer = isStream
      ? setTimeout(
          () =>
            late.abort(
              new ResponseRefused("no_headers", false, "did not begin its stream in time"),
            ),
          STREAM_HEADERS_MS,
        )
      : undefined;
    try {
      const signal = AbortSignal.any([
        ...signals,
        late.signal,
        ...(isStream ? [] : [AbortSignal.timeout(LONGEST_CALL_MS)]),
      ]);
      return await this.#options.fetch(input, { ...init, redirect: "manual", signal });
    } finally {
      clearTimeout(timer);
      leave?.();
    }
  }

  /** null: a secret among them is not bound to this method, which calls do not need. */
  async #ownHeaders(method: string): Promise<ReadonlyMap<string, string> | null> {
    try {
      const headers = await this.#options.headers(method);
      for (const value of headers.values()) this.#options.secrets.addHeader(value);
      return headers;
    } catch (error) {
      if (error instanceof SecretMissing && method !== "POST") return null;
      throw error;
    }
  }

  #bounded(response: Response, call: Watched | undefined): Response {
    const headers = new Headers();
    for (const name of KEPT_HEADERS) {
      const value = response.headers.get(name);
      if (value !== null && value.length <= MAX_HEADER_CHARS) headers.set(name, value);
    }
    const body =
      response.body && (call ? this.#ofCall(response.body, call) : this.#ofListing(response.body));
    const empty = [101, 204, 205, 304].includes(response.status);
    return new Response(empty ? null : body, {
      status: response.status,
      statusText: response.statusText,
      headers,
    });
  }

  #ofListing(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
    return counted(body, (bytes) => {
      this.#listingLeft -= bytes;
      if (this.#listingLeft >= 0) return;
      const limit = `${MAX_LISTING_BYTES / 1024 / 1024} MiB`;
      throw new ResponseRefused(
        "too_large",
        false,
        `sent more than ${limit} about itself and its tools`,
      );
    });
  }

  #ofCall(body: ReadableStream<Uint8Array>, call: Watched): ReadableStream<Uint8Array> {
    let taken = 0;
    const ended = () => {
      call.timer ??= setTimeout(() => {
        call.timer = undefined;
        if (call.mark === null) giveUp(call);
      }, READING_MS);
    };
    const count = async (bytes: number): Promise<void> => {
      taken += bytes;
      if (taken > MAX_RESULT_BYTES) {
        const refused = new ResponseRefused(
          "too_large",
          true,
          `replied with more than ${MAX_RESULT_BYTES / 1024 / 1024} MiB`,
        );
        call.failed.abort(refused);
        throw refused;
      }
      if (taken <= LARGE_BYTES) return;
      await call.large.acquire();
      call.open.signal.throwIfAborted(); // it may have waited longer than anybody for it
    };
    return counted(body, count, ended);
  }
}

const giveUp = ({ failed }: Watched): void => failed.abort(new StreamEnded("broke off its reply"));

/** A try to take a call's stream up; after the last one that fails no reply can come any more. */
async function takenUp(sent: Promise<Response>, call: Watched): Promise<Response> {
  const response = await sent.catch((error: unknown) => {
    call.lost += 1;
    if (call.lost >= RESUME_TRIES) giveUp(call);
    throw error;
  });
  call.lost = response.ok ? 0 : call.lost + 1;
  // A server without such streams is not asked again.
  if (response.status === 405 || call.lost >= RESUME_TRIES) giveUp(call);
  return response;
}

/** A body that passes while `count` does not throw; `ended` is called once, however it ends. */
function counted(
  body: ReadableStream<Uint8Array>,
  count: (bytes: number) => void | Promise<void>,
  ended: () => void = () => undefined,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (value) await count(value.byteLength);
          if (value) controller.enqueue(value);
          if (!done) return;
          ended();
          controller.close();
        } catch (error) {
          ended();
          controller.error(error);
          await reader.cancel(error).catch(() => undefined);
        }
      },
      async cancel(reason) {
        ended();
        await reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}
