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
 * Whether a caller who may have either takes JSON or the event stream: what its `Accept` likes best, of equals the one named
 * first; `otherwise` where it names neither.
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

/** Whether a stream is open, and if not, why. */
export type OpenedStream = { code: StreamCode; response: Response };

const CODES: Record<StreamCode, true> = {
  open: true,
  over: true,
  session_not_found: true,
  turn_not_found: true,
  event_id_ahead: true,
  too_many_readers: true,
};

/** Asks a session for its stream. The response is ready to be sent on, without the code between us and the object. */
export async function openStream(stub: SessionStub, asked: StreamRequest): Promise<OpenedStream> {
  const answer = await stub.fetch(streamUrl(asked));
  const code = answer.headers.get(STREAM_CODE_HEADER);
  if (!isStreamCode(code)) throw new ApiError("internal", "The session did not open its stream.");
  const headers = new Headers(answer.headers);
  headers.delete(STREAM_CODE_HEADER);
  return { code, response: new Response(answer.body, { headers }) };
}

const isStreamCode = (code: string | null): code is StreamCode =>
  code !== null && Object.hasOwn(CODES, code);

/** Tells how many warnings a stream begins with. */
export const WARNINGS_HEADER = "x-config-warnings";

const encoder = new TextEncoder();

/**
 * A run's stream that begins with the warnings of its config: one comment each, `: warning` and its JSON, and their number in a
 * header. Comments, because warnings are no events of the session: they have no number to come back to. A stream without
 * warnings is passed on as it is.
 */
export function withWarnings(stream: Response, warnings: readonly Fault[]): Response {
  if (warnings.length === 0 || !stream.body) return stream;
  const comments = warnings.map((warning) => `: warning ${JSON.stringify(warning)}\n`).join("");
  const headers = new Headers(stream.headers);
  headers.set(WARNINGS_HEADER, String(warnings.length));
  return new Response(beginning(`${comments}\n`, stream.body), { status: stream.status, headers });
}

/** `text`, then what `rest` gives, as it is asked for. If the reader leaves, so does the source. */
function beginning(text: string, rest: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
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
