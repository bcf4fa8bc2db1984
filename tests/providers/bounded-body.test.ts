import { describe, expect, it, vi } from "vitest";
import { boundedBody, boundedChunks } from "../../src/providers/bounded-body";
import { MAX_LINE_BYTES } from "../../src/providers/call-limits";

/** A body of these texts that never ends, and a record of how it was read. */
function openBody(texts: string[]) {
  const seen: { cancelled: boolean } = { cancelled: false };
  const rest = texts.map((text) => new TextEncoder().encode(text));
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const next = rest.shift();
      if (next) controller.enqueue(next);
      else return new Promise<void>(() => undefined);
    },
    cancel() {
      seen.cancelled = true;
    },
  });
  return { body, seen };
}

const chunksOf = (body: ReadableStream<Uint8Array>, onBytes: () => void) =>
  boundedChunks(body, onBytes, (reader) => void reader.cancel());

describe.each([
  { name: "as a stream", bounded: boundedBody },
  { name: "as chunks", bounded: chunksOf },
])("a bounded body $name", ({ bounded }) => {
  it("closes the connection when its reader stops early", async () => {
    const { body, seen } = openBody(["data: 1\n\n", "data: 2\n\n"]);
    for await (const chunk of bounded(body, () => undefined)) {
      expect(new TextDecoder().decode(chunk)).toBe("data: 1\n\n");
      break;
    }
    await vi.waitFor(() => expect(seen.cancelled).toBe(true));
  });

  it("fails at a line that is too long before the line ends, and closes the connection", async () => {
    const { body, seen } = openBody(["data: ", "x".repeat(MAX_LINE_BYTES)]);
    const read = async () => {
      for await (const _ of bounded(body, () => undefined));
    };
    await expect(read()).rejects.toMatchObject({ code: "bad_response" });
    expect(seen.cancelled).toBe(true);
  });

  it("reports activity for every chunk", async () => {
    const { body } = openBody([": a comment\n\n", "data: 1\n\n"]);
    let heard = 0;
    for await (const chunk of bounded(body, () => {
      heard += 1;
    })) {
      if (chunk[0] !== 58) break;
    }
    expect(heard).toBe(2);
  });
});
