import { createParser, type EventSourceMessage } from "eventsource-parser";
import { expect, it } from "vitest";
import { WARNINGS_HEADER, withWarnings } from "../../../src/api/sessions/streams";

const warning = (detail: string) => ({
  pointer: "/ui",
  line: 3,
  column: 1,
  detail,
  code: "no_effect",
});
const FRAME = 'event: turn.started\nid: 2\ndata: {"turn":1}\n\n';

function streamOf(text: string, onCancel = () => {}): Response {
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new TextEncoder().encode(text)),
    cancel: onCancel,
  });
  return new Response(body, {
    headers: { "content-type": "text/event-stream", location: "/api/sessions/s" },
  });
}

/** Reads a stream up to its first event. Returns the event and the comments before it. */
async function readFirstEvent(
  response: Response,
): Promise<{ comments: string[]; events: EventSourceMessage[] }> {
  const comments: string[] = [];
  const events: EventSourceMessage[] = [];
  const parser = createParser({
    onEvent: (event) => events.push(event),
    onComment: (text) => comments.push(text),
  });
  const decoder = new TextDecoder();
  for await (const bytes of response.body ?? []) {
    parser.feed(decoder.decode(bytes, { stream: true }));
    if (events.length > 0) break;
  }
  return { comments, events };
}

it("a stream without warnings is unchanged", () => {
  const stream = streamOf(FRAME);
  expect(withWarnings(stream, [])).toBe(stream);
});

it("a stream with warnings starts with a comment for each warning, and has their number in a header", async () => {
  const warnings = [warning("`a` has no effect."), warning("two\nlines: \u2028 é")];
  const response = withWarnings(streamOf(FRAME), warnings);
  expect(Object.fromEntries(response.headers)).toEqual({
    "content-type": "text/event-stream",
    location: "/api/sessions/s",
    [WARNINGS_HEADER]: "2",
  });
  const { comments, events } = await readFirstEvent(response);
  expect(comments.map((text): unknown => JSON.parse(text.replace(/^warning /, "")))).toEqual(
    warnings,
  );
  expect(events).toEqual([{ event: "turn.started", id: "2", data: '{"turn":1}' }]);
});

it("the session's stream is cancelled when the reader disconnects", async () => {
  let isCancelled = false;
  const response = withWarnings(
    streamOf(FRAME, () => {
      isCancelled = true;
    }),
    [warning("x")],
  );
  await readFirstEvent(response);
  await expect.poll(() => isCancelled).toBe(true);
});
