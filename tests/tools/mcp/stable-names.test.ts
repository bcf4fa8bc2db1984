import { describe, expect, it } from "vitest";
import { fullName } from "../../../src/tools/mcp/names";
import { pinsOf, toListing } from "../../../src/tools/mcp/tool-listing";
import { keep, serve } from "./test-servers";
import { reply, type Script, text, tool } from "../../../simulated/tool-servers/scripted-server";
import { connected, context, server, toolOf } from "./support";

const NAME_WITH_HASH = await fullName("box", "a b");

/** A server with these tools. `calledTools` returns the names of the called tools, in order. */
async function listingServer(...tools: string[]) {
  const script: Script = {
    tools: tools.map((name) => tool(name)),
    call: ({ response, message }) => reply(response, message.id, text("done")),
  };
  const { url, messages } = await serve(script);
  return {
    url,
    changeList: (...names: string[]): void => {
      script.tools = names.map((name) => tool(name));
    },
    calledTools: () => messages("tools/call").map(({ params }) => params?.["name"]),
  };
}

const timeoutSignal = () => AbortSignal.timeout(5_000);

describe("D15 the name of a tool that was called", () => {
  it.each([
    {
      name: "means the same tool when a tool with a colliding name is listed before it",
      first: "a_b",
      later: ["a b", "a_b"],
    },
    {
      name: "means the same tool when it ends in a hash and colliding tools are listed",
      first: "a b",
      later: ["a_b", "a.b", "a b"],
    },
    {
      name: "means the same tool when the offered name is the own name of another tool",
      first: "a b",
      later: [NAME_WITH_HASH.slice("mcp__box__".length), "a b"],
    },
  ])("$name", async ({ first, later }) => {
    const { url, changeList, calledTools } = await listingServer(first);
    const name = await fullName("box", first);
    const servers = keep(await connected([server(url, { allowedTools: [name] })]));
    await toolOf(servers, name).run({}, context());
    changeList(...later);
    await servers.refresh(timeoutSignal());
    await toolOf(servers, name).run({}, context());
    expect(calledTools()).toEqual([first, first]);
    expect(servers.toolsFor("one").map(({ spec }) => spec.name)).toEqual([name]);
  });

  it("means the same tool when the list changes between offer and call", async () => {
    const { url, changeList, calledTools } = await listingServer("a_b");
    const servers = keep(await connected([server(url)]));
    const offered = toolOf(servers, "mcp__box__a_b");
    changeList("a b", "a_b");
    await servers.refresh(timeoutSignal());
    await offered.run({}, context());
    await toolOf(servers, offered.spec.name).run({}, context());
    expect(calledTools()).toEqual(["a_b", "a_b"]);
  });

  it("means no tool when its tool is no longer listed and another tool maps to this name", async () => {
    const { url, changeList, calledTools } = await listingServer("a_b");
    const servers = keep(await connected([server(url)]));
    const offered = toolOf(servers, "mcp__box__a_b");
    changeList("a b");
    await servers.refresh(timeoutSignal());
    expect(servers.toolsFor("one").map(({ spec }) => spec.name)).toEqual([NAME_WITH_HASH]);
    expect(await offered.run({}, context())).toMatchObject({
      outcome: "error",
      text: expect.stringContaining("no longer has it"),
    });
    expect(calledTools()).toEqual([]);
  });

  it("means the same tool when a tool of another server collides with it", async () => {
    const [a, ab] = [await listingServer(), await listingServer("c")];
    const name = await fullName("a__b", "c");
    const servers = keep(
      await connected([server(a.url, { name: "a" }), server(ab.url, { name: "a__b" })]),
    );
    await toolOf(servers, name).run({}, context());
    a.changeList("b__c", name.slice("mcp__a__".length));
    await servers.refresh(timeoutSignal());
    await toolOf(servers, name).run({}, context());
    expect([a.calledTools(), ab.calledTools()]).toEqual([[], ["c", "c"]]);
  });

  it("means the same tool on a new connection after a restart, with the pins of the log", async () => {
    const { url, changeList, calledTools } = await listingServer("a_b");
    const config = server(url);
    const first = keep(await connected([config]));
    await toolOf(first, "mcp__box__a_b").run({}, context());
    const log = first
      .offersFor("one")
      .map((offer) => ({ turn: 1, agent: "one", ...toListing(offer) }));
    await first.close();
    changeList("a b", "a_b");
    const agents = new Map([["one", { servers: [config], allowedTools: null, excludeTools: [] }]]);
    const pins = pinsOf(log, () => agents);
    const second = keep(await connected([config], { pins }));
    expect(second.list()[0]).toMatchObject({ added: ["a b"] });
    await toolOf(second, "mcp__box__a_b").run({}, context());
    expect(calledTools()).toEqual(["a_b", "a_b"]);
  });
});
