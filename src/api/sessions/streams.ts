import { accepts } from "hono/accepts";
import type { Call } from "../api-env";
import {
  STREAM_CODE_HEADER,
  type StreamCode,
  type StreamRequest,
  streamUrl,
} from "../../protocol/stream-request";
import { ApiError, type Fault } from "../errors";
import type { SessionStub } from "../services";

const JSON_TYPE = "application/json";
const STREAM_TYPE = "text/event-stream";

/**
 * The form of the response that the caller's `Accept` header prefers. If it prefers both equally,
 * the first one in the header. If it names neither, `defaultForm`.
 */
export function preferredForm(context: Call, defaultForm: "json" | "stream"): "json" | "stream" {
  const defaultType = defaultForm === "json" ? JSON_TYPE : STREAM_TYPE;
  const type = accepts(context, {
    header: "Accept",
    supports: [JSON_TYPE, STREAM_TYPE],
    default: defaultType,
  });
  return type === JSON_TYPE ? "json" : "stream";
}

/** `code`: `open`, or why the stream is not open. */
type StreamOpening = { code: StreamCode; response: Response };

const STREAM_CODES: Record<StreamCode, true> = {
  open: true,
  over: true,
  session_not_found: true,
  turn_not_found: true,
  event_id_ahead: true,
  too_many_readers: true,
};

/**
 * Requests a session's stream. The response can be sent to the client, because the internal header
 * with the code is removed.
 */
export async function openStream(
  stub: SessionStub,
  request: StreamRequest,
): Promise<StreamOpening> {
  const response = await stub.fetch(streamUrl(request));
  const code = response.headers.get(STREAM_CODE_HEADER);
  if (!isStreamCode(code)) throw new ApiError("internal", "The session did not open its stream.");
  const headers = new Headers(response.headers);
  headers.delete(STREAM_CODE_HEADER);
  return { code, response: new Response(response.body, { headers }) };
}

const isStreamCode = (code: string | null): code is StreamCode =>
  code !== null && Object.hasOwn(STREAM_CODES, code);

/** Header with the number of warnings at the start of a stream. */
export const WARNINGS_HEADER = "x-config-warnings";

const encoder = new TextEncoder();

/**
 * Adds the warnings of a config to the start of a run's stream. Each warning becomes a comment line
 * with `: warning` and its JSON. A header contains the number of warnings. A warning cannot be an
 * event, because it has no sequence number from which a client could resume. Without warnings the
 * stream is unchanged.
 */
export function withWarnings(stream: Response, warnings: readonly Fault[]): Response {
  if (warnings.length === 0 || !stream.body) return stream;
  const comments = warnings.map((warning) => `: warning ${JSON.stringify(warning)}\n`).join("");
  const headers = new Headers(stream.headers);
  headers.set(WARNINGS_HEADER, String(warnings.length));
  return new Response(withPrefix(`${comments}\n`, stream.body), { status: stream.status, headers });
}

/**
 * A stream of `text` and then of `rest`, which is read on demand. Cancelling the new stream cancels
 * `rest`.
 */
function withPrefix(text: string, rest: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const source = rest.getReader();
  return new ReadableStream<Uint8Array>(
    {
      start: (controller) => controller.enqueue(encoder.encode(text)),
      pull: async (controller) => {
        const { done, value } = await source.read();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: (reason) => source.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}
