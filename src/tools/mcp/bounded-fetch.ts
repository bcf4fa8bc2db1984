import { MissingSecretError } from "./environment";
import {
  LONGEST_CALL_MS,
  MAX_LISTING_BYTES,
  MAX_RESULT_BYTES,
  RESUME_TRIES,
  STREAM_HEADERS_MS,
} from "./server-limits";
import { readOutgoing } from "./schema";
import type { SentSecrets } from "./server-secrets";
import type { MutexLease } from "../../async/mutex";
import { LARGE_BYTES } from "../large-results";

/** A response that was refused. `reached`: whether the server may have processed the request. */
export class ResponseRefusedError extends Error {
  override readonly name = "ResponseRefusedError";
  readonly code: "redirected" | "too_large" | "no_headers";
  readonly reached: boolean;

  constructor(code: ResponseRefusedError["code"], reached: boolean, message: string) {
    super(message);
    this.code = code;
    this.reached = reached;
  }
}

/** Headers that callers need. Cookies, refresh and all other headers are dropped. */
const KEPT_HEADERS = [
  "content-type",
  "www-authenticate",
  "mcp-session-id",
  "mcp-protocol-version",
  "retry-after",
];
const MAX_HEADER_CHARS = 8_192;

/** The stream of a call ended without a reply and cannot be resumed. */
export class StreamEndedError extends Error {
  override readonly name = "StreamEndedError";
}

/** State of a running call. */
type CallWatch = {
  /** Aborted, with the reason, once no reply can arrive any more. */
  failed: AbortSignal;
  /** Called with each event id from which the server's stream can be resumed. */
  resumable: (mark: string) => void;
  /** Aborts its open requests; a later reply is ignored. */
  end: () => void;
};

/**
 * `onHeaders` is called with the first response headers. `large` is acquired if a reply is
 * large.
 */
export type WatchOptions = { onHeaders?: (() => void) | undefined; large: MutexLease };

type RunningCall = {
  onHeaders: () => void;
  large: MutexLease;
  open: AbortController;
  failed: AbortController;
  /** Event id for resuming the stream; `null` if it cannot be resumed. */
  mark: string | null;
  /** Consecutive failed resumptions. */
  lost: number;
  timer: ReturnType<typeof setTimeout> | undefined;
};

/** Time for the client to read the last data. */
const READING_MS = 1_000;

type Options = {
  fetch: typeof fetch;
  /** The server's address. Only this address receives `headers`. */
  url: string;
  /** The static headers of a request, by its method. Throws `MissingSecretError`. */
  headers: (method: string) => Promise<ReadonlyMap<string, string>>;
  /**
   * Called before a request to another address that has a body or credentials, such as a token
   * endpoint. Throws `MissingSecretError` if the credentials are not bound to that address,
   * which an authorisation server's metadata chooses.
   */
  mayShow: (use: { url: string; method: string }) => Promise<void>;
  /** Collects the credentials that are sent. */
  secrets: SentSecrets;
  /**
   * Slot for requests other than calls, held until their headers arrive; omitted if not limited.
   */
  enter?: ((signal: AbortSignal) => Promise<() => void>) | undefined;
};

/**
 * The `fetch` of one server's client. It follows no redirects, counts each body while it streams,
 * and sends static headers only to the server's own address, never to an authorisation server. It
 * can abort the open requests of a call.
 */
export class BoundedFetch {
  readonly #options: Options;
  /** Remaining bytes for responses other than call results. */
  #listingLeft = MAX_LISTING_BYTES;
  readonly #calls = new Map<string, RunningCall>();

  constructor(options: Options) {
    this.#options = options;
  }

  /** Call before a new listing; resets the byte count. */
  allowListing(): void {
    this.#listingLeft = MAX_LISTING_BYTES;
  }

  /** Call before a call is sent under this key. The caller also releases the lease. */
  watch(key: string, { onHeaders = () => undefined, large }: WatchOptions): CallWatch {
    const watched: RunningCall = {
      onHeaders,
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
      // The response of a server without this stream or session; the protocol works without them.
      if (given === null) return new Response(null, { status: 405 });
      // Headers of the protocol win: a static header cannot replace a session or version.
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
    call?.onHeaders();
    if (response.status >= 300 && response.status < 400) {
      await response.body?.cancel().catch(() => undefined);
      throw new ResponseRefusedError(
        "redirected",
        false,
        "answered with a redirect, which is not followed",
      );
    }
    return this.#bounded(response, call);
  };

  #callAt(mark: string | null): RunningCall | undefined {
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
              new ResponseRefusedError("no_headers", false, "did not begin its stream in time"),
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

  /** `null` if a secret is not bound to this method; only POST is required. */
  async #ownHeaders(method: string): Promise<ReadonlyMap<string, string> | null> {
    try {
      const headers = await this.#options.headers(method);
      for (const value of headers.values()) this.#options.secrets.addHeader(value);
      return headers;
    } catch (error) {
      if (error instanceof MissingSecretError && method !== "POST") return null;
      throw error;
    }
  }

  #bounded(response: Response, call: RunningCall | undefined): Response {
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
      throw new ResponseRefusedError(
        "too_large",
        false,
        `sent more than ${limit} about itself and its tools`,
      );
    });
  }

  #ofCall(body: ReadableStream<Uint8Array>, call: RunningCall): ReadableStream<Uint8Array> {
    let taken = 0;
    const ended = () => {
      call.timer ??= setTimeout(() => {
        call.timer = undefined;
        if (call.mark === null) abandonCall(call);
      }, READING_MS);
    };
    const count = async (bytes: number): Promise<void> => {
      taken += bytes;
      if (taken > MAX_RESULT_BYTES) {
        const refused = new ResponseRefusedError(
          "too_large",
          true,
          `replied with more than ${MAX_RESULT_BYTES / 1024 / 1024} MiB`,
        );
        call.failed.abort(refused);
        throw refused;
      }
      if (taken <= LARGE_BYTES) return;
      await call.large.acquire();
      call.open.signal.throwIfAborted(); // the call may have ended while it waited
    };
    return counted(body, count, ended);
  }
}

const abandonCall = ({ failed }: RunningCall): void =>
  failed.abort(new StreamEndedError("broke off its reply"));

/** Tries to resume a call's stream. After the last failed try, no reply can arrive. */
async function takenUp(sent: Promise<Response>, call: RunningCall): Promise<Response> {
  const response = await sent.catch((error: unknown) => {
    call.lost += 1;
    if (call.lost >= RESUME_TRIES) abandonCall(call);
    throw error;
  });
  call.lost = response.ok ? 0 : call.lost + 1;
  // 405: the server has no such streams; do not try again.
  if (response.status === 405 || call.lost >= RESUME_TRIES) abandonCall(call);
  return response;
}

/** The body, passed on until `count` throws. `ended` is called once in every case. */
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
