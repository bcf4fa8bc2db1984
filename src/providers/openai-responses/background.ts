import { sleep } from "../../async/sleep";
import { explainFailure, createOpenAiClient } from "../openai-client";
import { ProviderError, type ProviderOptions, type ResumePoint } from "../provider";
import { BACKGROUND_CANCEL_MS, BACKGROUND_POLL_MS } from "../call-limits";
import { fieldsOf } from "./schema";

/** Background replies: resuming and cancelling them. */

export const inBackground = ({ background, host }: ProviderOptions): boolean =>
  background && host.background === true;

/** Input of `for await`: a stream, or a list that arrived at once. */
export type Events = AsyncIterable<unknown> | Iterable<unknown>;

const UNDER_WAY: ReadonlySet<unknown> = new Set(["queued", "in_progress"]);

type Resumption = {
  options: ProviderOptions;
  signal: AbortSignal;
  onBytes: () => void;
  from: ResumePoint;
};

/**
 * The events after a point. A reply that is too old to be streamed is polled until it is complete
 * and returned as one last event.
 */
export async function resumedEvents(resumption: Resumption): Promise<Events> {
  const { options, signal, onBytes, from } = resumption;
  const query = { stream: true, starting_after: from.after };
  try {
    return await createOpenAiClient(options, onBytes).get<AsyncIterable<unknown>>(pathOf(from.id), {
      query,
      stream: true,
      signal,
    });
  } catch (error) {
    if (statusOf(error, options) !== 400) throw lostOr(error, options);
    return [await wholeReply(resumption)];
  }
}

async function wholeReply({ options, signal, onBytes, from }: Resumption): Promise<unknown> {
  for (;;) {
    const response = await readReply({ options, signal, onBytes, from });
    const { status } = fieldsOf(response);
    if (!UNDER_WAY.has(status)) return { type: `response.${String(status)}`, response };
    await sleep(BACKGROUND_POLL_MS, signal);
  }
}

async function readReply({ options, signal, onBytes, from }: Resumption): Promise<unknown> {
  try {
    return await createOpenAiClient(options, onBytes).get<unknown>(pathOf(from.id), { signal });
  } catch (error) {
    throw lostOr(error, options);
  }
}

/**
 * Asks the provider to stop writing. Not awaited: if it fails, the provider completes the reply.
 */
export function cancelReply(options: ProviderOptions, id: string): void {
  createOpenAiClient(options, ignore)
    .post(`${pathOf(id)}/cancel`, { timeout: BACKGROUND_CANCEL_MS })
    .then(ignore, ignore);
}

const ignore = () => undefined;

const pathOf = (id: string): string => `/responses/${encodeURIComponent(id)}`;

const statusOf = (error: unknown, { apiKey }: ProviderOptions): number | undefined =>
  explainFailure(error, [apiKey]).details.status;

/** A refused resumption does not concern the original request, which the provider had accepted. */
function lostOr(error: unknown, options: ProviderOptions): unknown {
  const status = statusOf(error, options);
  if (status !== 400 && status !== 404) return error;
  const message = "The provider no longer has the background reply.";
  return new ProviderError("transient", "resume_lost", message, { status });
}
