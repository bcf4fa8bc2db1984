import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createOpenAiResponses } from "../../../src/providers/openai-responses";
import type { ModelEvent } from "../../../src/providers/provider";
import { REQUEST } from "../../contracts/contract-support";
import { endpointAt } from "../../fakes/endpoint";

/**
 * Golden transcripts, read through the whole adapter: the stream of a server as bytes (`x.sse`),
 * and our events (`x.json`).
 */

const FOLDER = join(import.meta.dirname, "transcripts");
const NAMES = readdirSync(FOLDER)
  .filter((name) => name.endsWith(".sse"))
  .map((name) => name.replace(/\.sse$/, ""));

async function replay(name: string) {
  const bytes = Uint8Array.from(readFileSync(join(FOLDER, `${name}.sse`)));
  const answer = async () =>
    new Response(bytes, { headers: { "content-type": "text/event-stream" } });
  const provider = createOpenAiResponses(endpointAt("https://provider.test/v1", { fetch: answer }));
  const events: ModelEvent[] = [];
  try {
    for await (const event of provider.stream(REQUEST, new AbortController().signal))
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

it("transcripts exist", () => expect(NAMES.length).toBeGreaterThan(8));

it.each(NAMES)("%s", async (name) => {
  expect(await replay(name)).toEqual(
    JSON.parse(readFileSync(join(FOLDER, `${name}.json`), "utf8")),
  );
});

it.each([
  {
    tool: "web search",
    name: "web-search-beside-a-vote",
    args: '{"agent_id":"agent1","reason":"sourced"}',
  },
  {
    tool: "code interpreter",
    name: "code-interpreter-beside-a-vote",
    args: '{"agent_id":"agent2","reason":"42"}',
  },
])("a vote beside a $tool is not lost", async ({ name, args }) => {
  const stop = (await replay(name)).events.at(-1);
  expect(stop).toMatchObject({ type: "stop", reason: "tool_calls" });
  const calls = stop?.type === "stop" ? stop.items.filter(({ type }) => type === "tool_call") : [];
  expect(calls).toEqual([expect.objectContaining({ name: "vote", arguments: args })]);
});
