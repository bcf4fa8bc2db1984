import { boundedChunks, readAtMost, readJsonText } from "./bounded-body";
import { readError } from "./error-body";
import { classify, toMessage } from "./errors";
import { MAX_ERROR_BODY_BYTES } from "./call-limits";
import { ProviderError, type ProviderOptions, type TransportHooks } from "./provider";
import { limitResetMs, retryAfterMs } from "./retry-after";

type Exchange = {
  /**
   * Names of the headers that may be sent. The SDKs add other headers, some of them from the
   * environment.
   */
  allowedHeaders: ReadonlySet<string>;
  /** Called for each piece of a response with status 2xx. */
  onBytes: () => void;
};

/** `network` must be called without a `this` value, as workerd's fetch requires. */
type NetworkAccess = { network: typeof fetch; hooks: TransportHooks };

const EVENTS = /^text\/event-stream\b/i;

/**
 * The `fetch` of an SDK, and the only path of a model call to the network. It follows no redirect,
 * and throws a ProviderError for every reply that is not a stream. The steps of a request, in
 * this order:
 *
 * 1. All headers that the adapter does not allow are removed. The header with the key is allowed.
 * 2. `onBuilt` is called: the request now has its own copy of the conversation. The call waits
 *    until there is memory for this copy.
 * 3. A call that must release its slot stops here.
 * 4. `onSend` is called: from here on, the call may cost something.
 * 5. `guard` passes the request to the network if its address is allowed and reachable. If it is
 *    not, or if the network fails, `onFailure` is called.
 * 6. `onHeaders` is called: the slot is free.
 * 7. If the status is an error, the error is read from the bytes of the body, because an SDK could
 *    misinterpret it. Secrets are removed from its message.
 * 8. `onBytes` is called for each piece of the body. The size of the body is limited.
 *
 * Two steps are not in this file. Before a call has a slot and a request, `Performer.admitCall`
 * waits for the rate limits of its backend. `withTimeLimits` aborts the signal of a call that is
 * too slow; it measures silence by `onBytes`.
 */
export function transport(
  { fetch: network, apiKey, hooks }: Pick<ProviderOptions, "fetch" | "apiKey" | "hooks">,
  { allowedHeaders, onBytes }: Exchange,
): typeof fetch {
  return async (input, init) => {
    const headers = onlyAllowed(new Headers(init?.headers), allowedHeaders);
    const request: RequestInit = { ...init, headers, redirect: "manual" };
    const response = await sendRequest({ network, hooks }, input, request);
    if (!response.ok) throw await statusError(response, [apiKey]);
    if (/^text\/html\b/i.test(response.headers.get("content-type") ?? ""))
      throw await pageError(response, [apiKey]);
    if (!response.body)
      throw new ProviderError("transient", "empty_reply", "The provider sent an empty reply.");
    const { status, headers: received } = response;
    if (!EVENTS.test(received.get("content-type") ?? "")) {
      const text = await readJsonText(response.body, onBytes);
      return new Response(text, { status, headers: received });
    }
    // SDKs accept any async iterable as `body`
    const events = new Response(null, { status, headers: received });
    return Object.defineProperty(events, "body", {
      value: boundedChunks(response.body, onBytes, hooks.readEnd),
    });
  };
}

function onlyAllowed(headers: Headers, allowed: ReadonlySet<string>): Headers {
  return new Headers([...headers].filter(([name]) => allowed.has(name)));
}

/** The response, once its headers have arrived. */
async function sendRequest(
  { network, hooks }: NetworkAccess,
  input: RequestInfo | URL,
  init: RequestInit,
): Promise<Response> {
  const { onBuilt, guard, onSend, onFailure, onHeaders, yieldSignal } = hooks;
  await onBuilt(sizeOf(init.body));
  const signal = init.signal ? AbortSignal.any([init.signal, yieldSignal]) : yieldSignal;
  try {
    signal.throwIfAborted();
    onSend();
    return await guard(urlOf(input), signal, () => network(input, { ...init, signal }));
  } catch (error) {
    onFailure(error);
    // for an abort, a runtime may throw its own error
    throw yieldSignal.aborted && !init.signal?.aborted ? yieldSignal.reason : error;
  } finally {
    onHeaders();
  }
}

/** Bytes of a body. SDKs are given bodies as text or bytes. */
const sizeOf = (body: RequestInit["body"]): number => {
  if (typeof body === "string") return body.length;
  return body instanceof Uint8Array || body instanceof ArrayBuffer ? body.byteLength : 0;
};

const urlOf = (input: RequestInfo | URL): URL =>
  new URL(input instanceof Request ? input.url : input);

async function statusError(response: Response, secrets: readonly string[]): Promise<ProviderError> {
  const body = await readAtMost(response.body, MAX_ERROR_BODY_BYTES);
  const { status, headers } = response;
  const now = Date.now();
  const requestedDelays = {
    retryAfterMs: retryAfterMs(headers, now),
    ...(status === 429 && { limitResetMs: limitResetMs(headers, now) }),
  };
  return classify({ status, body, ...requestedDelays }, secrets);
}

async function pageError(response: Response, secrets: readonly string[]): Promise<ProviderError> {
  const { words } = readError(await readAtMost(response.body, MAX_ERROR_BODY_BYTES));
  const message = toMessage(`Expected an event stream, got ${words || "an empty page"}`, secrets);
  return new ProviderError("transient", "bad_response", message, { status: response.status });
}
