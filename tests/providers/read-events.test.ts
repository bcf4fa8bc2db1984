import { describe, expect, it } from "vitest";
import { boundedChunks } from "../../src/providers/bounded-body";
import { MAX_LINE_BYTES } from "../../src/providers/call-limits";
import { readEvents } from "../../src/providers/read-events";

const NEVER = new AbortController().signal;

async function read(...pieces: (string | Error)[]) {
  const encoder = new TextEncoder();
  async function* body() {
    for (const piece of pieces) {
      if (piece instanceof Error) throw piece;
      yield encoder.encode(piece);
    }
  }
  const events: string[] = [];
  try {
    for await (const data of readEvents(body(), NEVER)) events.push(data);
    return { events };
  } catch (error) {
    return { events, error };
  }
}

describe("the events of a stream", () => {
  it.each([
    {
      name: "are yielded as they arrive",
      pieces: ["data: 1\n\n", "data: 2\n\n"],
      expected: ["1", "2"],
    },
    {
      name: "are yielded with or without an event name",
      pieces: ["event: a\ndata: 1\n\n", "id: 7\ndata: 2\n\n"],
      expected: ["1", "2"],
    },
    {
      name: "are yielded between comments",
      pieces: [": hello\n\n: still here\ndata: 1\n\n"],
      expected: ["1"],
    },
    {
      name: "are yielded from small chunks",
      pieces: ["da", "ta: {", '"a":1}\n', "\n"],
      expected: ['{"a":1}'],
    },
    {
      name: "are yielded without the blank line at the end",
      pieces: ['data: {"a":1}'],
      expected: ['{"a":1}'],
    },
    {
      name: "do not include a partial event",
      pieces: ["data: 1\n\n", 'data: {"a":'],
      expected: ["1"],
    },
  ])("$name", async ({ pieces, expected }) =>
    expect(await read(...pieces)).toEqual({ events: expected }),
  );

  it("are yielded if they were complete before an error", async () => {
    const broken = new Error("reset");
    expect(await read('data: {"a":1}\n\ndata: {"b":2}', broken)).toEqual({
      events: ['{"a":1}', '{"b":2}'],
      error: broken,
    });
    expect(await read('data: {"a":1}\n\ndata: {"b":', broken)).toEqual({
      events: ['{"a":1}'],
      error: broken,
    });
  });

  it("have a size limit, with any number of lines", async () => {
    const lines = "data: xxxxxxxx\n".repeat(1_000);
    const { error } = await read(...Array.from({ length: MAX_LINE_BYTES / 8_000 }, () => lines));
    expect(error).toMatchObject({ failureClass: "transient", code: "bad_response" });
  });
});

describe("the body", () => {
  const chunksOf = (body: ReadableStream<Uint8Array>) =>
    boundedChunks(
      body,
      () => undefined,
      (reader) => void reader.cancel(),
    );
  const silent = (onCancel: () => void) => new ReadableStream<Uint8Array>({ cancel: onCancel });
  const drain = async (body: ReadableStream<Uint8Array>, signal: AbortSignal) => {
    for await (const _ of readEvents(chunksOf(body), signal));
  };

  it("is released when reading is aborted", async () => {
    const cancelled = Promise.withResolvers<void>();
    const user = new AbortController();
    const reading = drain(silent(cancelled.resolve), user.signal);
    user.abort();
    await Promise.allSettled([reading, cancelled.promise]); // `guarded` decides the error
  });

  it("is released if the abort came before reading", async () => {
    const cancelled = Promise.withResolvers<void>();
    await Promise.allSettled([
      drain(silent(cancelled.resolve), AbortSignal.abort()),
      cancelled.promise,
    ]);
  });

  it("is released when the consumer stops", async () => {
    const cancelled = Promise.withResolvers<void>();
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode("data: 1\n\n")),
      cancel: () => cancelled.resolve(),
    });
    for await (const _ of readEvents(chunksOf(body), NEVER)) break;
    await cancelled.promise;
  });
});
