import { sleep } from "../../async/sleep";
import { toProviderError } from "../errors";
import { createOpenAiClient, streamedObjects } from "../openai-client";
import { ProviderError, type ProviderOptions, type ResumePoint } from "../provider";
import { BACKGROUND_CANCEL_MS, BACKGROUND_POLL_MS } from "../call-limits";
import { fieldsOf } from "./schema";

/** Functions that resume and cancel background replies. */

/** Whether replies are written in the background: the operator and the endpoint must allow it. */
export const inBackground = ({ background, host }: ProviderOptions): boolean =>
  background && host.background === true;

/** The events of a reply: a stream, or a list if the reply arrived at once. */
export type Events = AsyncIterable<unknown> | Iterable<unknown>;

const UNFINISHED_STATUSES: ReadonlySet<unknown> = new Set(["queued", "in_progress"]);

type Resumption = {
  options: ProviderOptions;
  signal: AbortSignal;
  onBytes: () => void;
  from: ResumePoint;
};

/**
 * The events after a resume point. A reply that is too old to be streamed is polled until it is
 * complete. It is returned as a list with only the final event.
 */
export async function resumedEvents(resumption: Resumption): Promise<Events> {
  const { options, signal, onBytes, from } = resumption;
  const query = { stream: true, starting_after: from.after };
  try {
    const response = await createOpenAiClient(options, onBytes)
      .get(pathOf(from.id), { query, stream: true, signal })
      .asResponse();
    return streamedObjects(response, signal, [options.apiKey]);
  } catch (error) {
    if (statusOf(error, options) !== 400) throw asResumeLost(error, options);
    return [await polledReply(resumption)];
  }
}

async function polledReply({ options, signal, onBytes, from }: Resumption): Promise<unknown> {
  for (;;) {
    const response = await fetchReply({ options, signal, onBytes, from });
    const { status } = fieldsOf(response);
    if (!UNFINISHED_STATUSES.has(status)) return { type: `response.${String(status)}`, response };
    await sleep(BACKGROUND_POLL_MS, signal);
  }
}

async function fetchReply({ options, signal, onBytes, from }: Resumption): Promise<unknown> {
  try {
    return await createOpenAiClient(options, onBytes).get<unknown>(pathOf(from.id), { signal });
  } catch (error) {
    throw asResumeLost(error, options);
  }
}

/**
 * Asks the provider to cancel the reply. The result is not awaited: if the request fails, the
 * provider only completes the reply.
 */
export function cancelReply(options: ProviderOptions, id: string): void {
  createOpenAiClient(options, ignore)
    .post(`${pathOf(id)}/cancel`, { timeout: BACKGROUND_CANCEL_MS })
    .then(ignore, ignore);
}

const ignore = () => undefined;

const pathOf = (id: string): string => `/responses/${encodeURIComponent(id)}`;

const statusOf = (error: unknown, { apiKey }: ProviderOptions): number | undefined =>
  toProviderError(error, [apiKey]).details.status;

/**
 * The error of a resumption. If the provider refuses it, the background reply is lost. Status 400
 * must not count as an invalid request, because the provider had accepted the original request.
 */
function asResumeLost(error: unknown, options: ProviderOptions): unknown {
  const status = statusOf(error, options);
  if (status !== 400 && status !== 404) return error;
  const message = "The provider no longer has the background reply.";
  return new ProviderError("transient", "resume_lost", message, { status });
}
