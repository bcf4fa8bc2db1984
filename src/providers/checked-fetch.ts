import { boundedBody, boundedChunks, JSON_LIMITS, readAtMost } from "./bounded-body";
import { readError } from "./error-body";
import { classify, toMessage } from "./errors";
import { MAX_ERROR_BODY_BYTES } from "./call-limits";
import { ProviderError } from "./provider";
import { limitResetMs, retryAfterMs } from "./retry-after";

type CheckedFetchOptions = {
  fetch: typeof fetch;
  /**
   * Names of the headers that may be sent. SDKs add their own, and some read more from the
   * environment.
   */
  allowedHeaders: ReadonlySet<string>;
  /** Values that no message may contain. */
  secrets: readonly string[];
  onBytes: () => void;
};

const EVENTS = /^text\/event-stream\b/i;

/**
 * The `fetch` for an SDK. It follows no redirect, sends only the allowed headers, and throws a
 * ProviderError for every reply that is not a stream. Failures are decoded here, from the bytes,
 * instead of from an SDK's interpretation.
 */
export function checkedFetch({
  fetch: send,
  allowedHeaders,
  secrets,
  onBytes,
}: CheckedFetchOptions): typeof fetch {
  return async (input, init) => {
    const headers = onlyAllowed(new Headers(init?.headers), allowedHeaders);
    // called without a receiver, which workerd's fetch requires
    const response = await send(input, { ...init, headers, redirect: "manual" });
    if (!response.ok) throw await failureOf(response, secrets);
    if (/^text\/html\b/i.test(response.headers.get("content-type") ?? ""))
      throw await pageInstead(response, secrets);
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
  const message = toMessage(
    `Instead of a stream of events came ${words || "an empty page"}`,
    secrets,
  );
  return new ProviderError("transient", "bad_response", message, { status: response.status });
}
