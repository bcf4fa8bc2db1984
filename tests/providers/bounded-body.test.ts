import { describe, expect, it, vi } from "vitest";
import { boundedBody, boundedChunks } from "../../src/providers/bounded-body";
import { setTimeout as sleep } from "node:timers/promises";
import { END_WAIT_MS, MAX_LINE_BYTES } from "../../src/providers/call-limits";

/** A body of these texts, and a record of how it was read. It ends by itself only if `ends`. */
function openBody(texts: string[], ends = false) {
  const seen: { cancelled: boolean } = { cancelled: false };
  const rest = texts.map((text) => new TextEncoder().encode(text));
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const next = rest.shift();
      if (next) controller.enqueue(next);
      else if (ends) controller.close();
      else return new Promise<void>(() => undefined);
    },
    cancel() {
      seen.cancelled = true;
    },
  });
  return { body, seen };
}

describe.each([
  { name: "as a stream", bounded: boundedBody },
  { name: "as chunks", bounded: boundedChunks },
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

describe("chunks whose reader has the whole reply", () => {
  const readFirst = async (body: ReadableStream<Uint8Array>) => {
    for await (const _ of boundedChunks(body, () => undefined)) break;
  };

  it("are read to the end without a cancel, so that the connection can be used again", async () => {
    const { body, seen } = openBody(["data: [DONE]\n\n"], true);
    await readFirst(body);
    await sleep(2 * END_WAIT_MS);
    expect(seen.cancelled).toBe(false);
  });

  it("are cancelled if the body does not end, but the reply does not wait for that", async () => {
    const { body, seen } = openBody(["data: [DONE]\n\n"]);
    await readFirst(body);
    expect(seen.cancelled).toBe(false);
    await vi.waitFor(() => expect(seen.cancelled).toBe(true));
  });
});
