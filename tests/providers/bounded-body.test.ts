import { describe, expect, it, vi } from "vitest";
import { boundedChunks, readJsonText } from "../../src/providers/bounded-body";
import { MAX_JSON_BYTES, MAX_LINE_BYTES } from "../../src/providers/call-limits";

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

const boundedPieces = (body: ReadableStream<Uint8Array>, onBytes: () => void) =>
  boundedChunks(body, onBytes, (reader) => void reader.cancel());

describe("the bounded pieces of a body", () => {
  it("closes the connection when its reader stops early", async () => {
    const { body, seen } = openBody(["data: 1\n\n", "data: 2\n\n"]);
    for await (const chunk of boundedPieces(body, () => undefined)) {
      expect(new TextDecoder().decode(chunk)).toBe("data: 1\n\n");
      break;
    }
    await vi.waitFor(() => expect(seen.cancelled).toBe(true));
  });

  it("fails at a line that is too long before the line ends, and closes the connection", async () => {
    const { body, seen } = openBody(["data: ", "x".repeat(MAX_LINE_BYTES)]);
    const read = async () => {
      for await (const _ of boundedPieces(body, () => undefined));
    };
    await expect(read()).rejects.toMatchObject({ code: "bad_response" });
    expect(seen.cancelled).toBe(true);
  });

  it("reports activity for every chunk", async () => {
    const { body } = openBody([": a comment\n\n", "data: 1\n\n"]);
    let heard = 0;
    for await (const chunk of boundedPieces(body, () => {
      heard += 1;
    })) {
      if (chunk[0] !== 58) break;
    }
    expect(heard).toBe(2);
  });
});

describe("a reply that is one JSON text", () => {
  it("is read whole from any pieces", async () => {
    const bytes = new TextEncoder().encode('{"text":"größer"}');
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const byte of bytes) controller.enqueue(Uint8Array.of(byte));
        controller.close();
      },
    });
    let pieces = 0;
    expect(await readJsonText(body, () => (pieces += 1))).toBe('{"text":"größer"}');
    expect(pieces).toBe(bytes.length);
  });

  it("fails while it arrives if it is too large, and closes the connection", async () => {
    const { body, seen } = openBody(["[", "x".repeat(MAX_JSON_BYTES)]);
    await expect(readJsonText(body, () => undefined)).rejects.toMatchObject({
      code: "bad_response",
    });
    expect(seen.cancelled).toBe(true);
  });
});
