import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createOpenAiChat } from "../../../src/providers/openai-chat";
import type { ModelEvent } from "../../../src/providers/provider";
import { endpointAt } from "../../fakes/endpoint";
import { BARE_REQUEST } from "../bare-request";

/**
 * Golden transcripts, read through the whole adapter: the stream of a server as bytes (`x.sse`),
 * and our events (`x.json`).
 */

const FOLDER = join(import.meta.dirname, "transcripts");
const NAMES = readdirSync(FOLDER)
  .filter((name) => name.endsWith(".sse"))
  .map((name) => name.replace(/\.sse$/, ""));

async function replay(bytes: Uint8Array<ArrayBuffer>) {
  const answer = async () =>
    new Response(bytes, { headers: { "content-type": "text/event-stream" } });
  const provider = createOpenAiChat(endpointAt("https://provider.test/v1", { fetch: answer }));
  const events: ModelEvent[] = [];
  try {
    for await (const event of provider.stream(BARE_REQUEST, new AbortController().signal))
      events.push(event);
    return { events };
  } catch (error) {
    return {
      events,
      error: JSON.parse(JSON.stringify(error)),
      message: error instanceof Error ? error.message : "",
    };
  }
}

it("transcripts exist", () => expect(NAMES.length).toBeGreaterThan(10));

it.each(NAMES)("%s", async (name) => {
  const got = await replay(Uint8Array.from(readFileSync(join(FOLDER, `${name}.sse`))));
  expect(got).toEqual(JSON.parse(readFileSync(join(FOLDER, `${name}.json`), "utf8")));
});
