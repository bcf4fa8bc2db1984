import { expect, inject, it } from "vitest";
import { connected, context, server, toolOf } from "./support";

it("the client connects from workerd, lists, and checks structured results without making code", async () => {
  const servers = await connected([server(inject("toolServerUrl"))]);
  expect(servers.list()).toMatchObject([
    { problem: null, version: "2026-07-28", tools: ["add", "recite", "ask"] },
  ]);
  expect(await toolOf(servers, "mcp__box__add").run({ a: 19, b: 23 }, context())).toEqual({
    outcome: "ok",
    text: "42",
  });
  const stop = new AbortController();
  stop.abort(new Error("nobody waits"));
  await expect(
    toolOf(servers, "mcp__box__add").run({ a: 1, b: 2 }, context({ signal: stop.signal })),
  ).rejects.toThrow("nobody waits");
  await servers.close();
});
