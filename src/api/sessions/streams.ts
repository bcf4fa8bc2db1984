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
 * Whether the caller prefers JSON or the event stream, by its `Accept` header; of equals, the
 * first. `otherwise`: the result if the header names neither.
 */
export function wantedForm(context: Call, otherwise: "json" | "stream"): "json" | "stream" {
  const preset = otherwise === "json" ? JSON_TYPE : STREAM_TYPE;
  const type = accepts(context, {
    header: "Accept",
    supports: [JSON_TYPE, STREAM_TYPE],
    default: preset,
  });
  return type === JSON_TYPE ? "json" : "stream";
}

/** `code`: whether the stream is open, or why it is not. */
type StreamOpening = { code: StreamCode; response: Response };

const CODES: Record<StreamCode, true> = {
  open: true,
  over: true,
  session_not_found: true,
  turn_not_found: true,
  event_id_ahead: true,
  too_many_readers: true,
};

/**
 * Requests a session's stream. The response can be forwarded: it lacks the internal code header.
 */
export async function openStream(stub: SessionStub, asked: StreamRequest): Promise<StreamOpening> {
  const answer = await stub.fetch(streamUrl(asked));
  const code = answer.headers.get(STREAM_CODE_HEADER);
  if (!isStreamCode(code)) throw new ApiError("internal", "The session did not open its stream.");
  const headers = new Headers(answer.headers);
  headers.delete(STREAM_CODE_HEADER);
  return { code, response: new Response(answer.body, { headers }) };
}

const isStreamCode = (code: string | null): code is StreamCode =>
  code !== null && Object.hasOwn(CODES, code);

/** Header with the number of warnings at the start of a stream. */
export const WARNINGS_HEADER = "x-config-warnings";

const encoder = new TextEncoder();

/**
 * Adds the warnings of a config to the start of a run's stream: one comment per warning, `:
 * warning` and its JSON, with their number in a header. They are comments because warnings are not
 * events of the session: they have no number for a resume. Without warnings the stream is
 * unchanged.
 */
export function withWarnings(stream: Response, warnings: readonly Fault[]): Response {
  if (warnings.length === 0 || !stream.body) return stream;
  const comments = warnings.map((warning) => `: warning ${JSON.stringify(warning)}\n`).join("");
  const headers = new Headers(stream.headers);
  headers.set(WARNINGS_HEADER, String(warnings.length));
  return new Response(withPrefix(`${comments}\n`, stream.body), { status: stream.status, headers });
}

/** `text` followed by `rest`, read on demand. Cancelling the result cancels `rest`. */
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
