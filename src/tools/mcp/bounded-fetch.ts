import { type Counter, countedBody, isEventStream, readWhole } from "./bodies";
import { type McpEnvironment, MissingSecretError, type RequestSlot } from "./environment";
import {
  LONGEST_CALL_MS,
  MAX_LISTING_BYTES,
  MAX_RESULT_BYTES,
  RESUME_TRIES,
  STREAM_HEADERS_MS,
} from "./server-limits";
import { readOutgoing } from "./schema";
import type { SentSecrets } from "./server-secrets";
import { linkedAbort, timeLimit, withoutStack } from "../../async/abort";
import type { MutexLease } from "../../async/mutex";
import { LARGE_BYTES } from "../large-results";
import type { ToolContext } from "../tool";

/** A response that we refuse. `wasReached`: whether the server may have processed the request. */
export class ResponseRefusedError extends Error {
  override readonly name = "ResponseRefusedError";
  readonly code: "redirected" | "too_large" | "no_headers";
  readonly wasReached: boolean;

  constructor(code: ResponseRefusedError["code"], wasReached: boolean, message: string) {
    super(message);
    this.code = code;
    this.wasReached = wasReached;
  }
}

/** Response headers that callers need. All other headers are removed, such as cookies. */
const KEPT_HEADERS = [
  "content-type",
  "www-authenticate",
  "mcp-session-id",
  "mcp-protocol-version",
  "retry-after",
];
const MAX_HEADER_CHARS = 8_192;

/** The stream of a call has ended without a reply and cannot be resumed. */
export class StreamEndedError extends Error {
  override readonly name = "StreamEndedError";
}

/** A running call, as its caller sees it. */
type CallWatch = {
  /** Aborted, with the reason, as soon as a reply can no longer arrive. */
  failed: AbortSignal;
  /** Call this with each event id from which the server's stream can be resumed. */
  onResumable: (eventId: string) => void;
  /** Ends the call: aborts its open requests. A later reply is ignored. */
  end: () => void;
};

/** The slot of a call. Its first request has it until response headers arrive. */
export class CallSlot {
  #isHeld = true;

  /** `relay`: omitted if there are no slots. `onHeaders`: called when the slot is released. */
  constructor(private readonly call: Pick<ToolContext, "relay" | "onHeaders">) {}

  /** Returns the slot for one request; `null` if an earlier request has released it. */
  take(): RequestSlot | null {
    if (!this.#isHeld) return null;
    const release = () => {
      this.#isHeld = false;
      this.call.onHeaders?.();
    };
    const { relay } = this.call;
    return { ...(relay !== undefined && { relay }), release };
  }
}

export type WatchOptions = {
  slot: CallSlot;
  /** Acquired if the reply is large. */
  large: MutexLease;
};

/** A running call, as this class sees it. */
type RunningCall = WatchOptions & {
  /** Aborts the open requests of the call. */
  open: AbortController;
  /** Aborted when a reply can no longer arrive. */
  failed: AbortController;
  /** The last event id from which the stream can be resumed; `null` if it cannot be resumed. */
  resumeEventId: string | null;
  /** Consecutive failed resumptions. */
  failedResumptions: number;
  /** Runs after the end of a response body, see `READING_MS`. */
  timer: ReturnType<typeof setTimeout> | undefined;
};

/** A response. `onEnd` is called when its body has ended. For `call`, see `Sending`. */
type Receiving = Pick<Sending, "call" | "isStream"> & { onEnd: () => void };

/**
 * A request. `isStream`: whether it opens a stream of the server. `call`: the call that it belongs
 * to; omitted for listings and the like.
 */
type Sending = { signals: AbortSignal[]; isStream: boolean; call: RunningCall | undefined };

/** Time for the client to process the last data before the call fails without a reply. */
const READING_MS = 1_000;

type Options = Pick<McpEnvironment, "fetch" | "fetchOver"> & {
  /** The server's address. Only this address receives `headers`. */
  url: string;
  /** Returns the static headers of a request with this method. Throws `MissingSecretError`. */
  headers: (method: string) => Promise<ReadonlyMap<string, string>>;
  /**
   * Called before a request with a body or credentials to another address, such as a token
   * endpoint. The metadata of an authorisation server chooses that address. Throws
   * `MissingSecretError` if the credentials are not bound to it.
   */
  checkCredentials: (use: { url: string; method: string }) => Promise<void>;
  /** All credentials that are sent are added to this set. */
  secrets: SentSecrets;
  /** See `McpEnvironment`. */
  enter?: McpEnvironment["enter"] | undefined;
};

/**
 * The `fetch` of the client for one server. It follows no redirects and limits the size of bodies.
 * It sends static headers only to the server's own address, never to an authorisation server. It
 * can abort the open requests of a call.
 */
export class BoundedFetch {
  readonly #options: Options;
  /** Remaining bytes for responses other than call results. */
  #listingBytesLeft = MAX_LISTING_BYTES;
  readonly #calls = new Map<string, RunningCall>();

  constructor(options: Options) {
    this.#options = options;
  }

  /** Resets the byte count of `#listingBytesLeft`. Call this before a new listing. */
  allowListing(): void {
    this.#listingBytesLeft = MAX_LISTING_BYTES;
  }

  /**
   * Registers a call. Call this before the call is sent with this key. The caller releases the
   * lease.
   */
  watch(key: string, { slot, large }: WatchOptions): CallWatch {
    const watched: RunningCall = {
      slot,
      large,
      open: new AbortController(),
      failed: new AbortController(),
      resumeEventId: null,
      failedResumptions: 0,
      timer: undefined,
    };
    this.#calls.set(key, watched);
    return {
      failed: watched.failed.signal,
      onResumable: (eventId) => {
        watched.resumeEventId = eventId;
      },
      end: () => {
        clearTimeout(watched.timer);
        this.#calls.delete(key);
        watched.open.abort(CALL_IS_OVER);
      },
    };
  }

  readonly fetch = async (input: string | URL, init: RequestInit = {}): Promise<Response> => {
    const { callKey } = readOutgoing(init.body);
    const isOwnServer = new URL(input).href === this.#options.url;
    const method = init.method ?? "GET";
    const headers = new Headers(init.headers);
    if (isOwnServer) {
      const staticHeaders = await this.#ownHeaders(method);
      // 405 means that the server has no such stream or session. The protocol works without both.
      if (staticHeaders === null) return new Response(null, { status: 405 });
      // A static header cannot replace a header of the protocol, such as its session or version.
      for (const [name, value] of staticHeaders) if (!headers.has(name)) headers.set(name, value);
    } else if (init.body != null || headers.has("authorization")) {
      await this.#options.checkCredentials({ url: new URL(input).href, method });
    }
    const resumedCall =
      isOwnServer && method === "GET"
        ? this.#callResumedBy(headers.get("last-event-id"))
        : undefined;
    const call = resumedCall ?? (callKey === null ? undefined : this.#calls.get(callKey));
    this.#options.secrets.addHeader(headers.get("authorization") ?? "");
    const signals = [init.signal, call?.open.signal].filter(
      (signal) => signal !== null && signal !== undefined,
    );
    const isStream = method === "GET" && isOwnServer;
    const sent = this.#send(input, { ...init, headers }, { signals, isStream, call });
    return resumedCall ? trackResumption(sent, resumedCall) : sent;
  };

  /** The running call whose stream a request with this `Last-Event-ID` resumes. */
  #callResumedBy(eventId: string | null): RunningCall | undefined {
    if (eventId === null) return undefined;
    return [...this.#calls.values()].find((call) => call.resumeEventId === eventId);
  }

  /** Sends a request and returns its bounded response. Its time limit ends with the body. */
  async #send(
    input: string | URL,
    init: RequestInit,
    { signals, isStream, call }: Sending,
  ): Promise<Response> {
    const waiting = linkedAbort(...signals);
    const slot = await this.#enter(call, waiting.signal).finally(waiting.unlink);
    const limit = isStream
      ? timeLimit(STREAM_HEADERS_MS, signals, toHeadersError)
      : timeLimit(LONGEST_CALL_MS, signals);
    try {
      const { signal } = limit;
      const response = await this.#sendIn(slot, input, { ...init, redirect: "manual", signal });
      if (isStream) limit.stopTimer();
      await refuseRedirect(response);
      return await this.#bounded(response, { call, isStream, onEnd: limit.end });
    } catch (error) {
      limit.end();
      throw error;
    }
  }

  /** Sends a request. Releases its slot when the headers arrive. */
  async #sendIn(slot: RequestSlot, input: string | URL, init: RequestInit): Promise<Response> {
    try {
      const send = this.#fetchOver(slot.relay);
      return await send(input, init);
    } finally {
      slot.release();
    }
  }

  /**
   * The slot of a request. The first request of a call has the slot of the call. Further requests,
   * for example a further try or one that resumes its stream, acquire a slot of their own.
   */
  async #enter(call: RunningCall | undefined, signal: AbortSignal): Promise<RequestSlot> {
    const slot = call?.slot.take() ?? (await this.#options.enter?.(signal));
    return slot ?? { release: () => {} };
  }

  #fetchOver(relay: number | undefined): typeof fetch {
    const { fetch: own, fetchOver } = this.#options;
    return relay === undefined || !fetchOver ? own : fetchOver(relay);
  }

  /**
   * The static headers; `null` if a secret is not bound to this method. Only POST requests are
   * necessary, so for POST the error is thrown.
   */
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

  async #bounded(response: Response, { call, isStream, onEnd }: Receiving): Promise<Response> {
    const headers = new Headers();
    for (const name of KEPT_HEADERS) {
      const value = response.headers.get(name);
      if (value !== null && value.length <= MAX_HEADER_CHARS) headers.set(name, value);
    }
    const empty = [101, 204, 205, 304].includes(response.status);
    const body = empty ? null : response.body;
    const counter = call ? this.#replyCounter(call, onEnd) : this.#listingCounter(onEnd);
    if (body === null) onEnd();
    const read = isStream || isEventStream(response) ? countedBody : readWhole;
    return new Response(body && (await read(body, counter)), {
      status: response.status,
      statusText: response.statusText,
      headers,
    });
  }

  #listingCounter(onEnd: () => void): Counter {
    const onBytes = (bytes: number): void => {
      this.#listingBytesLeft -= bytes;
      if (this.#listingBytesLeft >= 0) return;
      const limit = `${MAX_LISTING_BYTES / 1024 / 1024} MiB`;
      throw new ResponseRefusedError(
        "too_large",
        false,
        `sent more than ${limit} about itself and its tools`,
      );
    };
    return { onBytes, onEnd };
  }

  #replyCounter(call: RunningCall, onEnd: () => void): Counter {
    let bytesSoFar = 0;
    const onReplyEnd = () => {
      onEnd();
      call.timer ??= setTimeout(() => {
        call.timer = undefined;
        if (call.resumeEventId === null) abandonCall(call);
      }, READING_MS);
    };
    const onBytes = async (bytes: number): Promise<void> => {
      bytesSoFar += bytes;
      if (bytesSoFar > MAX_RESULT_BYTES) {
        const refused = withoutStack(toSizeError);
        call.failed.abort(refused);
        throw refused;
      }
      if (bytesSoFar <= LARGE_BYTES) return;
      await call.large.acquire();
      // The call may have ended while it waited for the lease.
      call.open.signal.throwIfAborted();
    };
    return { onBytes, onEnd: onReplyEnd };
  }
}

const CALL_IS_OVER = withoutStack(() => new Error("the call is over"));

const toSizeError = (): ResponseRefusedError =>
  new ResponseRefusedError(
    "too_large",
    true,
    `replied with more than ${MAX_RESULT_BYTES / 1024 / 1024} MiB`,
  );

const toHeadersError = (): ResponseRefusedError =>
  new ResponseRefusedError("no_headers", false, "did not begin its stream in time");

async function refuseRedirect({ status, body }: Response): Promise<void> {
  if (status < 300 || status >= 400) return;
  await body?.cancel().catch(() => undefined);
  throw new ResponseRefusedError(
    "redirected",
    false,
    "answered with a redirect, which is not followed",
  );
}

const abandonCall = ({ failed }: RunningCall): void =>
  failed.abort(withoutStack(() => new StreamEndedError("broke off its reply")));

/** Counts a try to resume the stream of a call. After the last failed try, the call fails. */
async function trackResumption(sent: Promise<Response>, call: RunningCall): Promise<Response> {
  const response = await sent.catch((error: unknown) => {
    call.failedResumptions += 1;
    if (call.failedResumptions >= RESUME_TRIES) abandonCall(call);
    throw error;
  });
  call.failedResumptions = response.ok ? 0 : call.failedResumptions + 1;
  // 405: the server has no such streams, so another try is useless.
  if (response.status === 405 || call.failedResumptions >= RESUME_TRIES) abandonCall(call);
  return response;
}
