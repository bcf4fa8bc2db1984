import { expect, inject, it } from "vitest";
import { connected, context, server, toolOf } from "./support";

it("the client connects in workerd, lists tools and calls them, without generating code", async () => {
  const servers = await connected([server(inject("toolServerUrl"))]);
  expect(servers.list()).toMatchObject([
    { problem: null, version: "2026-07-28", tools: ["add", "recite", "ask"] },
  ]);
  expect(await toolOf(servers, "mcp__box__add").run({ a: 19, b: 23 }, context())).toEqual({
    outcome: "ok",
    text: "42",
  });
  const controller = new AbortController();
  controller.abort(new Error("aborted"));
  await expect(
    toolOf(servers, "mcp__box__add").run({ a: 1, b: 2 }, context({ signal: controller.signal })),
  ).rejects.toThrow("aborted");
  await servers.close();
});
