import { describe, expect, it } from "vitest";
import { fullName } from "../../../src/tools/mcp/names";
import { pinsOf, toListing } from "../../../src/tools/mcp/tool-listing";
import { keep, serve } from "./test-servers";
import { reply, type Script, text, tool } from "../../../simulated/tool-servers/scripted-server";
import { connected, context, server, toolOf } from "./support";

/** Servers that try to give an offered name to another tool. */

const OFFERED = await fullName("box", "a b");

/** A server that lists these tools and serves every call; `called`: the called tools, in order. */
async function box(...tools: string[]) {
  const script: Script = {
    tools: tools.map((name) => tool(name)),
    call: ({ response, message }) => reply(response, message.id, text("done")),
  };
  const { url, messages } = await serve(script);
  return {
    url,
    lists: (...names: string[]): void => {
      script.tools = names.map((name) => tool(name));
    },
    called: () => messages("tools/call").map(({ params }) => params?.["name"]),
  };
}

const soon = () => AbortSignal.timeout(5_000);

describe("D15 the name of a tool that was called", () => {
  it.each([
    {
      name: "is unchanged when a tool with a colliding name is listed before it",
      first: "a_b",
      later: ["a b", "a_b"],
    },
    { name: "is unchanged when it has a suffix", first: "a b", later: ["a_b", "a.b", "a b"] },
    {
      name: "is unchanged when another tool takes the offered name itself",
      first: "a b",
      later: [OFFERED.slice("mcp__box__".length), "a b"],
    },
  ])("$name", async ({ first, later }) => {
    const { url, lists, called } = await box(first);
    const name = await fullName("box", first);
    const servers = keep(await connected([server(url, { allowedTools: [name] })]));
    await toolOf(servers, name).run({}, context());
    lists(...later);
    await servers.refresh(soon());
    await toolOf(servers, name).run({}, context());
    expect(called()).toEqual([first, first]);
    expect(servers.toolsFor("one").map(({ spec }) => spec.name)).toEqual([name]);
  });

  it("is unchanged when the list changes between offer and call", async () => {
    const { url, lists, called } = await box("a_b");
    const servers = keep(await connected([server(url)]));
    const offered = toolOf(servers, "mcp__box__a_b");
    lists("a b", "a_b");
    await servers.refresh(soon());
    await offered.run({}, context());
    await toolOf(servers, offered.spec.name).run({}, context());
    expect(called()).toEqual(["a_b", "a_b"]);
  });

  it("is unassigned when its tool is gone and another tool maps to the same name", async () => {
    const { url, lists, called } = await box("a_b");
    const servers = keep(await connected([server(url)]));
    const offered = toolOf(servers, "mcp__box__a_b");
    lists("a b");
    await servers.refresh(soon());
    expect(servers.toolsFor("one").map(({ spec }) => spec.name)).toEqual([OFFERED]);
    expect(await offered.run({}, context())).toMatchObject({
      outcome: "error",
      text: expect.stringContaining("no longer has it"),
    });
    expect(called()).toEqual([]);
  });

  it("is unchanged when a tool of another server collides with it", async () => {
    const [a, ab] = [await box(), await box("c")];
    const name = await fullName("a__b", "c");
    const servers = keep(
      await connected([server(a.url, { name: "a" }), server(ab.url, { name: "a__b" })]),
    );
    await toolOf(servers, name).run({}, context());
    a.lists("b__c", name.slice("mcp__a__".length));
    await servers.refresh(soon());
    await toolOf(servers, name).run({}, context());
    expect([a.called(), ab.called()]).toEqual([[], ["c", "c"]]);
  });

  it("is unchanged when another connection starts after a restart, with the pins of the log", async () => {
    const { url, lists, called } = await box("a_b");
    const config = server(url);
    const first = keep(await connected([config]));
    await toolOf(first, "mcp__box__a_b").run({}, context());
    const log = first.offersFor("one").map((offer) => ({ agent: "one", ...toListing(offer) }));
    await first.close();
    lists("a b", "a_b");
    const pins = pinsOf(
      log,
      new Map([["one", { servers: [config], allowedTools: null, excludeTools: [] }]]),
    );
    const second = keep(await connected([config], { pins }));
    expect(second.list()[0]).toMatchObject({ added: ["a b"] });
    await toolOf(second, "mcp__box__a_b").run({}, context());
    expect(called()).toEqual(["a_b", "a_b"]);
  });
});
