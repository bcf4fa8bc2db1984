import { afterEach, describe, expect, it, vi } from "vitest";
import { CALL_KEY } from "../../../src/tools/mcp/schema";
import { act, keep, only, serve } from "./test-servers";
import {
  type ScriptedCall,
  flood,
  frame,
  reply,
  type Script,
  startStream,
  text,
  tool,
} from "../../../simulated/tool-servers/scripted-server";
import { MissingSecretError } from "../../../src/tools/mcp/environment";
import { connected, context, server, toolOf } from "./support";
import type { SecretUse } from "../../../src/tools/secret-bindings";

/** Connections during a session: shared, lost, opened again, paused. */

const done: Script["call"] = ({ response, message }) => reply(response, message.id, text("done"));
const answersWith = (...statuses: number[]): Script["call"] => {
  let index = 0;
  return (scriptedCall) => {
    const status = statuses[index++] ?? 200;
    return status === 200
      ? done?.(scriptedCall)
      : void scriptedCall.response.writeHead(status).end("busy");
  };
};

describe("a connection", () => {
  it("is opened once, for all calls of the session", async () => {
    const toolServer = await serve(only(done));
    const servers = keep(await connected([server(toolServer.url)]));
    const run = toolOf(servers, "mcp__box__act");
    await Promise.all(Array.from({ length: 5 }, () => run.run({}, context())));
    expect(toolServer.messages("initialize")).toHaveLength(1);
    expect(toolServer.messages("tools/list")).toHaveLength(1);
    expect(toolServer.messages("tools/call")).toHaveLength(5);
  });

  it("calls onHeaders when the headers of a call's response arrive", async () => {
    const { promise: mayEnd, resolve: endReply } = Promise.withResolvers<void>();
    const toolServer = await serve(
      only(async ({ response, message }) => {
        startStream(response);
        await mayEnd;
        response.end(frame({ jsonrpc: "2.0", id: message.id, result: text("done") }));
      }),
    );
    const servers = keep(await connected([server(toolServer.url)]));
    const { promise: headersCame, resolve: onHeaders } = Promise.withResolvers<void>();
    const call = toolOf(servers, "mcp__box__act").run({}, context({ onHeaders }));
    await headersCame;
    endReply();
    expect(await call).toEqual({ outcome: "ok", text: "done" });
  });

  it("is opened to all servers at the same time, and a server that is down does not delay the others", async () => {
    const toolServers = await Promise.all(Array.from({ length: 8 }, () => serve(only(done))));
    const down = server("http://127.0.0.1:9/mcp", { name: "down" });
    const servers = keep(
      await connected([
        down,
        ...toolServers.map(({ url }, index) => server(url, { name: `s${index}` })),
      ]),
    );
    expect(servers.toolsFor("one")).toHaveLength(8);
    expect(servers.list()[0]).toMatchObject({
      name: "down",
      problem: expect.stringMatching(/could not be reached/),
    });
  });

  it("to a server that does not answer fails at the time limit, and does not delay the others", async () => {
    const silentServer = await serve({ first: () => true });
    const goodServer = await serve(only(done));
    const startedAt = Date.now();
    const mute = server(silentServer.url, { name: "mute", connectMs: 700 });
    const servers = keep(await connected([mute, server(goodServer.url, { connectMs: 20_000 })]));
    expect(Date.now() - startedAt).toBeLessThan(10_000); // half of the total time limit
    expect(servers.list()).toMatchObject([
      { problem: expect.stringMatching(/did not answer in time/) },
      { problem: null },
    ]);
  });

  it("is not opened without the operator's secret, and the error names the missing secret", async () => {
    const toolServer = await serve(only(done));
    const secretOf = (name: string, { url }: SecretUse): string => {
      throw new MissingSecretError(`the service has no ${name} for ${new URL(url).origin}`);
    };
    const servers = keep(
      await connected([server(toolServer.url, { headers: { "x-key": "${BOX_KEY}" } })], {
        secretOf,
      }),
    );
    expect(servers.list()[0]?.problem).toBe(
      `The tool server box cannot be asked: the service has no BOX_KEY for ${new URL(toolServer.url).origin}.`,
    );
    expect(toolServer.received).toEqual([]);
  });

  it("is opened again when the server has lost the session, and the call is repeated", async () => {
    const script: Script = { ...only(done), session: "first" };
    const toolServer = await serve(script);
    const servers = keep(await connected([server(toolServer.url)]));
    script.session = "second";
    script.first = ({ received, response }) => {
      if (received.headers["mcp-session-id"] !== "first") return false;
      response.writeHead(404).end();
      return true;
    };
    expect(await toolOf(servers, "mcp__box__act").run({}, context())).toEqual({
      outcome: "ok",
      text: "done",
    });
    expect(toolServer.messages("initialize")).toHaveLength(2);
  });

  it("to a server that was down no longer has a problem after the next listing", async () => {
    let isDown = false;
    const first: Script["first"] = ({ response }) => {
      if (isDown) response.writeHead(503).end();
      return isDown;
    };
    const toolServer = await serve({ ...only(done), first });
    const problems: (string | null)[] = [];
    const servers = keep(
      await connected([server(toolServer.url)], {
        listed: ({ problem }) => problems.push(problem),
      }),
    );
    isDown = true;
    await servers.refreshFor("one", AbortSignal.timeout(5_000));
    expect(servers.list()).toMatchObject([{ problem: expect.stringContaining("HTTP 503") }]);
    isDown = false;
    expect((await toolOf(servers, "mcp__box__act").run({}, context())).text).toBe("done");
    expect(problems).toEqual([null, null]);
    expect(servers.offersFor("one")).toMatchObject([
      { problem: null, tools: [{ rule: { name: "mcp__box__act" } }] },
    ]);
  });

  it("is closed at the end of the session, with a notice to the server", async () => {
    const toolServer = await serve({ ...only(done), session: "one" });
    const servers = await connected([server(toolServer.url)]);
    await servers.close();
    expect(toolServer.received.filter(({ method }) => method === "DELETE")).toHaveLength(1);
  });
});

describe("a failed call", () => {
  const callWithHints = async (
    call: Script["call"],
    hints: object,
    allows: "idempotent" | "read_only" | null,
  ) => {
    const toolServer = await serve({
      tools: [tool("act", { annotations: hints })],
      ...(call && { call }),
    });
    const trust = allows === null ? [] : [{ url: toolServer.url, tool: "act", allows }];
    const servers = keep(await connected([server(toolServer.url)], { trust }));
    const actTool = toolOf(servers, "mcp__box__act");
    return {
      toolServer,
      actTool,
      result: await actTool.run({}, context({ idempotencyKey: "the-key" })),
    };
  };

  it("is retried with the same key if the operator and the server declare the tool safe", async () => {
    const { toolServer, actTool, result } = await callWithHints(
      answersWith(503, 502),
      { idempotentHint: true },
      "idempotent",
    );
    expect(actTool.rule).toEqual({ name: "mcp__box__act", acts_outside: true, idempotent: true });
    expect(result).toEqual({ outcome: "ok", text: "done" });
    expect(toolServer.messages("tools/call").map(({ params }) => params?.["_meta"])).toEqual(
      Array.from({ length: 3 }, () => expect.objectContaining({ [CALL_KEY]: "the-key" })),
    );
  });

  it("is not retried if only the config declares the tool read-only; the tool may run in planning mode (D8)", async () => {
    const hints = { idempotentHint: true, readOnlyHint: true };
    const call = answersWith(503);
    const toolServer = await serve({
      tools: [tool("act", { annotations: hints })],
      ...(call && { call }),
    });
    const servers = keep(
      await connected([{ ...server(toolServer.url), readOnlyTools: ["ac*"] }], {}),
    );
    const actTool = toolOf(servers, "mcp__box__act");
    expect(actTool.rule).toEqual({
      name: "mcp__box__act",
      acts_outside: true,
      idempotent: false,
      runs_in_planning: true,
    });
    expect((await actTool.run({}, context())).outcome).toBe("error");
    expect(toolServer.messages("tools/call")).toHaveLength(1);
  });

  it.each([
    {
      name: "only the server declares the tool safe",
      hints: { idempotentHint: true, readOnlyHint: true },
      allows: null,
    },
    { name: "only the operator declares the tool safe", hints: {}, allows: "idempotent" as const },
  ])("is not retried if $name", async ({ hints, allows }) => {
    const { toolServer, result } = await callWithHints(answersWith(503), hints, allows);
    expect(result.outcome).toBe("error");
    expect(toolServer.messages("tools/call")).toHaveLength(1);
  });

  it("has an unknown outcome if it may have taken effect, and is only an error otherwise", async () => {
    expect((await act(only(answersWith(500)))).result.outcome).toBe("unknown");
    expect((await act(only(answersWith(429)))).result.outcome).toBe("error");
    expect((await act(only(answersWith(400)))).result.outcome).toBe("error");
  });

  it("is the last one for 10 s if the server has failed three times in a row", async () => {
    let now = 1_000_000;
    const toolServer = await serve(only(answersWith(500, 500, 500)));
    const servers = keep(await connected([server(toolServer.url)], { now: () => now }));
    const run = () => toolOf(servers, "mcp__box__act").run({}, context({ now: () => now }));
    for (let index = 0; index < 3; index++) await run();
    expect(await run()).toMatchObject({
      outcome: "error",
      text: expect.stringContaining("is not asked again for 10 s"),
    });
    expect(toolServer.messages("tools/call")).toHaveLength(3);
    now += 10_000;
    expect((await run()).text).toBe("done");
  });
});

describe("a connection that several calls share", () => {
  afterEach(() => void vi.useRealTimers());

  /** A server with two tools: `slow` answers when the test says so, `bad` fails immediately. */
  const shared = async (fail: Script["call"], { callMs = 5_000 } = {}) => {
    const waiting: ScriptedCall[] = [];
    const toolServer = await serve({
      tools: [tool("slow"), tool("bad")],
      call: (scriptedCall) =>
        scriptedCall.message.params?.["name"] === "bad"
          ? fail?.(scriptedCall)
          : void waiting.push(scriptedCall),
    });
    const servers = keep(await connected([server(toolServer.url, { callMs })]));
    const run = (name: string) => toolOf(servers, `mcp__box__${name}`).run({}, context());
    const startCalls = async (count: number) => {
      const calls = Array.from({ length: count }, () => run("slow"));
      await expect.poll(() => waiting.length).toBe(count);
      return calls;
    };
    const answerAll = () => {
      for (const { response, message } of waiting.splice(0))
        reply(response, message.id, text("done"));
    };
    const cutAll = () => {
      for (const { response } of waiting.splice(0)) response.destroy();
    };
    return { toolServer, servers, run, startCalls, answerAll, cutAll };
  };

  it.each([
    { what: "fails with 503", fail: answersWith(503) },
    {
      what: "is cut off",
      fail: (({ response }) => void response.destroy()) satisfies Script["call"],
    },
    {
      what: "gets a response that is too large",
      fail: (({ response }) =>
        void flood(response, "x".repeat(1_000_000), 30_000_000)) satisfies Script["call"],
    },
  ])(
    "stays open for the others when one call $what, and the next call gets a new connection",
    async ({ fail }) => {
      const { toolServer, run, startCalls, answerAll } = await shared(fail);
      const others = await startCalls(3);
      expect((await run("bad")).outcome).not.toBe("ok");
      answerAll();
      expect(await Promise.all(others)).toEqual(
        Array.from({ length: 3 }, () => ({ outcome: "ok", text: "done" })),
      );
      const [next] = await startCalls(1);
      answerAll();
      expect(await next).toEqual({ outcome: "ok", text: "done" });
      expect(toolServer.messages("initialize")).toHaveLength(2);
    },
  );

  it("stays open for the others when one call exceeds its time limit", async () => {
    const { toolServer, run, startCalls, answerAll } = await shared(() => undefined, {
      callMs: 60_000,
    });
    // With real timers, the other call could exceed its time limit too on a slow machine.
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const late = run("bad");
    await expect.poll(() => toolServer.messages("tools/call").length).toBe(1);
    await vi.advanceTimersByTimeAsync(30_000);
    const [other] = await startCalls(1);
    await vi.advanceTimersByTimeAsync(30_000);
    expect(await late).toMatchObject({
      outcome: "unknown",
      text: expect.stringContaining("did not answer in time"),
    });
    answerAll();
    expect(await other).toEqual({ outcome: "ok", text: "done" });
  });

  it("counts as one failure for the breaker if all its calls fail because it breaks", async () => {
    const { startCalls, answerAll, cutAll } = await shared(undefined);
    const all = await startCalls(5);
    cutAll();
    expect((await Promise.all(all)).map(({ outcome }) => outcome)).toEqual(
      Array.from({ length: 5 }, () => "unknown"),
    );
    const [next] = await startCalls(1);
    answerAll();
    expect(await next).toEqual({ outcome: "ok", text: "done" });
  });

  it("counts as one failure for the breaker if calls wait for it and it cannot be opened", async () => {
    const { toolServer, run, startCalls, answerAll } = await shared(answersWith(503));
    await run("bad"); // the next call needs a new connection
    toolServer.script.first = ({ response }) => {
      response.writeHead(500).end();
      return true;
    };
    const all = await Promise.all(Array.from({ length: 5 }, () => run("slow")));
    expect(all.map(({ text: resultText }) => resultText)).toEqual(
      Array.from({ length: 5 }, () => expect.stringContaining("HTTP 500")),
    );
    delete toolServer.script.first;
    const [next] = await startCalls(1);
    answerAll();
    expect(await next).toEqual({ outcome: "ok", text: "done" });
  });

  it("is closed at the end of the session, even if only old calls use it", async () => {
    const { servers, run, startCalls } = await shared(answersWith(503));
    const [old] = await startCalls(1);
    await run("bad");
    await servers.close();
    expect(await old).toMatchObject({ outcome: "unknown" });
  });
});
