import { describe, expect, it } from "vitest";
import { CALL_KEY } from "../../../src/tools/mcp/schema";
import { act, keep, only, serve } from "./kept";
import { reply, type Script, text, tool } from "./scripted-server";
import { connected, context, server, toolOf } from "./support";

/** Connections over time: kept, lost, found again, given a rest. */

const done: Script["call"] = ({ response, message }) => reply(response, message.id, text("done"));
const answers = (...statuses: number[]): Script["call"] => {
  let nth = 0;
  return (asked) => {
    const status = statuses[nth++] ?? 200;
    return status === 200 ? done?.(asked) : void asked.response.writeHead(status).end("busy");
  };
};

describe("a connection", () => {
  it("is made once, and serves all calls of the session", async () => {
    const made = await serve(only(done));
    const servers = keep(await connected([server(made.url)]));
    const run = toolOf(servers, "mcp__box__act");
    await Promise.all(Array.from({ length: 5 }, () => run.run({}, context())));
    expect(made.messages("initialize")).toHaveLength(1);
    expect(made.messages("tools/list")).toHaveLength(1);
    expect(made.messages("tools/call")).toHaveLength(5);
  });

  it("is made with many servers at once, and one that is down keeps nobody from the others", async () => {
    const many = await Promise.all(Array.from({ length: 8 }, () => serve(only(done))));
    const down = server("http://127.0.0.1:9/mcp", { name: "down" });
    const servers = keep(await connected([down, ...many.map(({ url }, nth) => server(url, { name: `s${nth}` }))]));
    expect(servers.toolsFor("one")).toHaveLength(8);
    expect(servers.list()[0]).toMatchObject({ name: "down", problem: expect.stringMatching(/could not be reached/) });
  });

  it("is made anew when the server has forgotten the session, and the call goes on", async () => {
    const script: Script = { ...only(done), session: "first" };
    const made = await serve(script);
    const servers = keep(await connected([server(made.url)]));
    script.session = "second";
    script.first = ({ received, response }) => {
      if (received.headers["mcp-session-id"] !== "first") return false;
      response.writeHead(404).end();
      return true;
    };
    expect(await toolOf(servers, "mcp__box__act").run({}, context())).toEqual({ outcome: "ok", text: "done" });
    expect(made.messages("initialize")).toHaveLength(2);
  });

  it("ends with the session: the server is told", async () => {
    const made = await serve({ ...only(done), session: "one" });
    const servers = await connected([server(made.url)]);
    await servers.close();
    expect(made.received.filter(({ method }) => method === "DELETE")).toHaveLength(1);
  });
});

describe("a failed call", () => {
  const trusted = async (call: Script["call"], hints: object, allows: "idempotent" | "read_only" | null) => {
    const made = await serve({ tools: [tool("act", { annotations: hints })], ...(call && { call }) });
    const trust = allows === null ? [] : [{ url: made.url, tool: "act", allows }];
    const servers = keep(await connected([server(made.url)], { trust }));
    const act1 = toolOf(servers, "mcp__box__act");
    return { made, act1, result: await act1.run({}, context({ idempotencyKey: "the-key" })) };
  };

  it("is tried again where operator and server call it safe, under the same key", async () => {
    const { made, act1, result } = await trusted(answers(503, 502), { idempotentHint: true }, "idempotent");
    expect(act1.rule).toEqual({ name: "mcp__box__act", acts_outside: true, idempotent: true });
    expect(result).toEqual({ outcome: "ok", text: "done" });
    expect(made.messages("tools/call").map(({ params }) => params?.["_meta"])).toEqual(
      Array.from({ length: 3 }, () => expect.objectContaining({ [CALL_KEY]: "the-key" })),
    );
  });

  it.each([
    { name: "the server alone calls safe", hints: { idempotentHint: true, readOnlyHint: true }, allows: null },
    { name: "the operator alone calls safe", hints: {}, allows: "idempotent" as const },
  ])("is not tried again where $name", async ({ hints, allows }) => {
    const { made, result } = await trusted(answers(503), hints, allows);
    expect(result.outcome).toBe("error");
    expect(made.messages("tools/call")).toHaveLength(1);
  });

  it("is unknown where it may have happened, and only an error where it cannot have", async () => {
    expect((await act(only(answers(500)))).result.outcome).toBe("unknown");
    expect((await act(only(answers(429)))).result.outcome).toBe("error");
    expect((await act(only(answers(400)))).result.outcome).toBe("error");
  });

  it("of a server that fails three times in a row is the last for a while", async () => {
    let now = 1_000_000;
    const made = await serve(only(answers(500, 500, 500)));
    const servers = keep(await connected([server(made.url)], { now: () => now }));
    const run = () => toolOf(servers, "mcp__box__act").run({}, context({ now: () => now }));
    for (let nth = 0; nth < 3; nth++) await run();
    expect(await run()).toMatchObject({ outcome: "error", text: expect.stringContaining("is not asked again for 10 s") });
    expect(made.messages("tools/call")).toHaveLength(3);
    now += 10_000;
    expect((await run()).text).toBe("done");
  });
});
