import { boundedBody, boundedChunks, JSON_LIMITS, readAtMost } from "./bounded-body";
import { readError } from "./error-body";
import { classify, toMessage } from "./errors";
import { MAX_ERROR_BODY_BYTES } from "./call-limits";
import { ProviderError, type ProviderOptions, type TransportHooks } from "./provider";
import { limitResetMs, retryAfterMs } from "./retry-after";

type Exchange = {
  /**
   * Names of the headers that may be sent. SDKs add their own, and some read more from the
   * environment.
   */
  allowedHeaders: ReadonlySet<string>;
  /** Called for each piece of a response with a good status. */
  onBytes: () => void;
};

/** `network` is called without a receiver, which workerd's fetch requires. */
type Line = { network: typeof fetch; hooks: TransportHooks };

const EVENTS = /^text\/event-stream\b/i;

/**
 * The `fetch` of an SDK, and the only path of a model call to the network. It follows no redirect,
 * and throws a ProviderError for every reply that is not a stream. The steps of a request, in
 * their order:
 *
 * 1. Only the adapter's headers remain, among them the key.
 * 2. `onBuilt`: the request holds its own copy of the conversation.
 * 3. A call that must give its slot away stops here.
 * 4. `onSend`: from here on the call may cost something.
 * 5. `guard`: the network takes the request if its address is allowed and reachable. `onFailure`:
 *    if not, or if the network fails.
 * 6. `onHeaders`: the slot is free.
 * 7. A failure is decoded from its bytes, not taken from an SDK's interpretation, and secrets are
 *    removed from its message.
 * 8. `onBytes`: for each piece of the body, within the limits on its size.
 *
 * Two steps are elsewhere. Before a call has a slot and a request, `Performer.admitCall` waits for
 * the rate limits of its backend. `withTimeLimits` aborts the signal of a call that is too slow; it
 * measures silence by `onBytes`.
 */
export function transport(
  { fetch: network, apiKey, hooks }: Pick<ProviderOptions, "fetch" | "apiKey" | "hooks">,
  { allowedHeaders, onBytes }: Exchange,
): typeof fetch {
  return async (input, init) => {
    const headers = onlyAllowed(new Headers(init?.headers), allowedHeaders);
    const request: RequestInit = { ...init, headers, redirect: "manual" };
    const response = await sent({ network, hooks }, input, request);
    if (!response.ok) throw await failureOf(response, [apiKey]);
    if (/^text\/html\b/i.test(response.headers.get("content-type") ?? ""))
      throw await pageInstead(response, [apiKey]);
    if (!response.body)
      throw new ProviderError("transient", "empty_reply", "The provider sent an empty reply.");
    const { status, headers: received } = response;
    if (!EVENTS.test(received.get("content-type") ?? "")) {
      return new Response(boundedBody(response.body, onBytes, JSON_LIMITS), {
        status,
        headers: received,
      });
    }
    // SDKs read `body` as any async iterable
    const events = new Response(null, { status, headers: received });
    return Object.defineProperty(events, "body", { value: boundedChunks(response.body, onBytes) });
  };
}

function onlyAllowed(headers: Headers, allowed: ReadonlySet<string>): Headers {
  return new Headers([...headers].filter(([name]) => allowed.has(name)));
}

/** The response, once its headers have arrived. */
async function sent(
  { network, hooks }: Line,
  input: RequestInfo | URL,
  init: RequestInit,
): Promise<Response> {
  const { onBuilt, guard, onSend, onFailure, onHeaders, yieldSignal } = hooks;
  onBuilt();
  const signal = init.signal ? AbortSignal.any([init.signal, yieldSignal]) : yieldSignal;
  try {
    signal.throwIfAborted();
    onSend();
    return await guard(urlOf(input), signal, () => network(input, { ...init, signal }));
  } catch (error) {
    onFailure(error);
    // runtimes throw errors of their own for an abort
    throw yieldSignal.aborted && !init.signal?.aborted ? yieldSignal.reason : error;
  } finally {
    onHeaders();
  }
}

const urlOf = (input: RequestInfo | URL): URL =>
  new URL(input instanceof Request ? input.url : input);

async function failureOf(response: Response, secrets: readonly string[]): Promise<ProviderError> {
  const body = await readAtMost(response.body, MAX_ERROR_BODY_BYTES);
  const { status, headers } = response;
  const now = Date.now();
  const asked = {
    retryAfterMs: retryAfterMs(headers, now),
    ...(status === 429 && { limitResetMs: limitResetMs(headers, now) }),
  };
  return classify({ status, body, ...asked }, secrets);
}

async function pageInstead(response: Response, secrets: readonly string[]): Promise<ProviderError> {
  const { words } = readError(await readAtMost(response.body, MAX_ERROR_BODY_BYTES));
  const message = toMessage(`Expected an event stream, got ${words || "an empty page"}`, secrets);
  return new ProviderError("transient", "bad_response", message, { status: response.status });
}
