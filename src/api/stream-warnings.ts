import type { Fault } from "./errors";

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
