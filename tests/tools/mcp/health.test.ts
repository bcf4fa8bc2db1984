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
import { McpServers } from "../../../src/tools/mcp/mcp-servers";
import { MissingSecretError } from "../../../src/tools/mcp/environment";
import { connected, context, environment, server, toolOf } from "./support";
import type { SecretUse } from "../../../src/tools/secret-bindings";

/** Connections over time: kept, lost, made again, paused. */

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

  it("reports when a call has got the server's first response", async () => {
    const { promise: mayEnd, resolve: end } = Promise.withResolvers<void>();
    const made = await serve(
      only(async ({ response, message }) => {
        startStream(response);
        await mayEnd;
        response.end(frame({ jsonrpc: "2.0", id: message.id, result: text("done") }));
      }),
    );
    const servers = keep(await connected([server(made.url)]));
    const { promise: came, resolve: onHeaders } = Promise.withResolvers<void>();
    const call = toolOf(servers, "mcp__box__act").run({}, context({ onHeaders }));
    await came;
    end();
    expect(await call).toEqual({ outcome: "ok", text: "done" });
  });

  it("is made with many servers at once, and one that is down does not delay the others", async () => {
    const many = await Promise.all(Array.from({ length: 8 }, () => serve(only(done))));
    const down = server("http://127.0.0.1:9/mcp", { name: "down" });
    const servers = keep(
      await connected([down, ...many.map(({ url }, nth) => server(url, { name: `s${nth}` }))]),
    );
    expect(servers.toolsFor("one")).toHaveLength(8);
    expect(servers.list()[0]).toMatchObject({
      name: "down",
      problem: expect.stringMatching(/could not be reached/),
    });
  });

  it("with a server that never answers fails at the time limit, and does not delay the others", async () => {
    const silent = await serve({ first: () => true });
    const good = await serve(only(done));
    const started = Date.now();
    const mute = server(silent.url, { name: "mute", connectMs: 700 });
    const servers = keep(await connected([mute, server(good.url, { connectMs: 20_000 })]));
    expect(Date.now() - started).toBeLessThan(10_000); // half of the total time limit
    expect(servers.list()).toMatchObject([
      { problem: expect.stringMatching(/did not answer in time/) },
      { problem: null },
    ]);
  });

  it("is listed once for concurrent callers, and one aborted caller does not cancel it for the others", async () => {
    const made = await serve(only(done));
    const servers = new McpServers(environment());
    keep(servers);
    servers.know(
      new Map([["one", { servers: [server(made.url)], allowedTools: null, excludeTools: [] }]]),
      new Map(),
    );
    const leaving = new AbortController();
    const left = servers.refreshFor("one", leaving.signal);
    const stays = servers.refreshFor("one", AbortSignal.timeout(5_000));
    leaving.abort(new Error("not needed any more"));
    await expect(left).rejects.toThrow("not needed any more");
    await stays;
    expect(servers.offersFor("one")).toMatchObject([
      { server: "box", problem: null, tools: [{ rule: { name: "mcp__box__act" } }] },
    ]);
    expect(made.messages("tools/list")).toHaveLength(1);
  });

  it("is not made without the operator's secret, and the error names the missing secret", async () => {
    const made = await serve(only(done));
    const secretOf = (name: string, { url }: SecretUse): string => {
      throw new MissingSecretError(`the service has no ${name} for ${new URL(url).origin}`);
    };
    const servers = keep(
      await connected([server(made.url, { headers: { "x-key": "${BOX_KEY}" } })], { secretOf }),
    );
    expect(servers.list()[0]?.problem).toBe(
      `The tool server box cannot be asked: the service has no BOX_KEY for ${new URL(made.url).origin}.`,
    );
    expect(made.received).toEqual([]);
  });

  it("is made again when the server has lost the session, and the call continues", async () => {
    const script: Script = { ...only(done), session: "first" };
    const made = await serve(script);
    const servers = keep(await connected([server(made.url)]));
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
    expect(made.messages("initialize")).toHaveLength(2);
  });

  it("of a server that was down is reported as working with the first listing, for any caller", async () => {
    let isDown = false;
    const first: Script["first"] = ({ response }) => {
      if (isDown) response.writeHead(503).end();
      return isDown;
    };
    const made = await serve({ ...only(done), first });
    const problems: (string | null)[] = [];
    const servers = keep(
      await connected([server(made.url)], { listed: ({ problem }) => problems.push(problem) }),
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

  it("ends with the session, with a notice to the server", async () => {
    const made = await serve({ ...only(done), session: "one" });
    const servers = await connected([server(made.url)]);
    await servers.close();
    expect(made.received.filter(({ method }) => method === "DELETE")).toHaveLength(1);
  });
});

describe("a failed call", () => {
  const trusted = async (
    call: Script["call"],
    hints: object,
    allows: "idempotent" | "read_only" | null,
  ) => {
    const made = await serve({
      tools: [tool("act", { annotations: hints })],
      ...(call && { call }),
    });
    const trust = allows === null ? [] : [{ url: made.url, tool: "act", allows }];
    const servers = keep(await connected([server(made.url)], { trust }));
    const act1 = toolOf(servers, "mcp__box__act");
    return { made, act1, result: await act1.run({}, context({ idempotencyKey: "the-key" })) };
  };

  it("is tried again if both operator and server declare it safe, with the same key", async () => {
    const { made, act1, result } = await trusted(
      answers(503, 502),
      { idempotentHint: true },
      "idempotent",
    );
    expect(act1.rule).toEqual({ name: "mcp__box__act", acts_outside: true, idempotent: true });
    expect(result).toEqual({ outcome: "ok", text: "done" });
    expect(made.messages("tools/call").map(({ params }) => params?.["_meta"])).toEqual(
      Array.from({ length: 3 }, () => expect.objectContaining({ [CALL_KEY]: "the-key" })),
    );
  });

  it("runs in planning mode if the config declares it read-only, and is not tried again for that reason (D8)", async () => {
    const hints = { idempotentHint: true, readOnlyHint: true };
    const call = answers(503);
    const made = await serve({
      tools: [tool("act", { annotations: hints })],
      ...(call && { call }),
    });
    const servers = keep(await connected([{ ...server(made.url), readOnlyTools: ["ac*"] }], {}));
    const act1 = toolOf(servers, "mcp__box__act");
    expect(act1.rule).toEqual({
      name: "mcp__box__act",
      acts_outside: true,
      idempotent: false,
      runs_in_planning: true,
    });
    expect((await act1.run({}, context())).outcome).toBe("error");
    expect(made.messages("tools/call")).toHaveLength(1);
  });

  it.each([
    {
      name: "only the server declares it safe",
      hints: { idempotentHint: true, readOnlyHint: true },
      allows: null,
    },
    { name: "only the operator declares it safe", hints: {}, allows: "idempotent" as const },
  ])("is not tried again if $name", async ({ hints, allows }) => {
    const { made, result } = await trusted(answers(503), hints, allows);
    expect(result.outcome).toBe("error");
    expect(made.messages("tools/call")).toHaveLength(1);
  });

  it("has an unknown outcome if it may have taken effect, and is only an error otherwise", async () => {
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
    expect(await run()).toMatchObject({
      outcome: "error",
      text: expect.stringContaining("is not asked again for 10 s"),
    });
    expect(made.messages("tools/call")).toHaveLength(3);
    now += 10_000;
    expect((await run()).text).toBe("done");
  });
});

describe("a connection that several calls share", () => {
  afterEach(() => void vi.useRealTimers());

  /** A server with a tool that responds on demand, and a tool that fails at once. */
  const shared = async (fail: Script["call"], { callMs = 5_000 } = {}) => {
    const waiting: ScriptedCall[] = [];
    const made = await serve({
      tools: [tool("slow"), tool("bad")],
      call: (asked) =>
        asked.message.params?.["name"] === "bad" ? fail?.(asked) : void waiting.push(asked),
    });
    const servers = keep(await connected([server(made.url, { callMs })]));
    const run = (name: string) => toolOf(servers, `mcp__box__${name}`).run({}, context());
    const begun = async (count: number) => {
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
    return { made, servers, run, begun, answerAll, cutAll };
  };

  it.each([
    { what: "fails with 503", fail: answers(503) },
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
    "is not closed when one of them $what: the others get their results, and the next call gets a new connection",
    async ({ fail }) => {
      const { made, run, begun, answerAll } = await shared(fail);
      const others = await begun(3);
      expect((await run("bad")).outcome).not.toBe("ok");
      answerAll();
      expect(await Promise.all(others)).toEqual(
        Array.from({ length: 3 }, () => ({ outcome: "ok", text: "done" })),
      );
      const [next] = await begun(1);
      answerAll();
      expect(await next).toEqual({ outcome: "ok", text: "done" });
      expect(made.messages("initialize")).toHaveLength(2);
    },
  );

  it("is not closed when one of them is late", async () => {
    const { made, run, begun, answerAll } = await shared(() => undefined, { callMs: 60_000 });
    // on a slow machine the other call would be late, too
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const late = run("bad");
    await expect.poll(() => made.messages("tools/call").length).toBe(1);
    await vi.advanceTimersByTimeAsync(30_000);
    const [other] = await begun(1);
    await vi.advanceTimersByTimeAsync(30_000);
    expect(await late).toMatchObject({
      outcome: "unknown",
      text: expect.stringContaining("did not answer in time"),
    });
    answerAll();
    expect(await other).toEqual({ outcome: "ok", text: "done" });
  });

  it("counts one failure for the breaker when all of them fail with it", async () => {
    const { begun, answerAll, cutAll } = await shared(undefined);
    const all = await begun(5);
    cutAll();
    expect((await Promise.all(all)).map(({ outcome }) => outcome)).toEqual(
      Array.from({ length: 5 }, () => "unknown"),
    );
    const [next] = await begun(1);
    answerAll();
    expect(await next).toEqual({ outcome: "ok", text: "done" });
  });

  it("counts one failure when all of them wait for it and it cannot be made", async () => {
    const { made, run, begun, answerAll } = await shared(answers(503));
    await run("bad"); // the next call needs a new connection
    made.script.first = ({ response }) => {
      response.writeHead(500).end();
      return true;
    };
    const all = await Promise.all(Array.from({ length: 5 }, () => run("slow")));
    expect(all.map(({ text: said }) => said)).toEqual(
      Array.from({ length: 5 }, () => expect.stringContaining("HTTP 500")),
    );
    delete made.script.first;
    const [next] = await begun(1);
    answerAll();
    expect(await next).toEqual({ outcome: "ok", text: "done" });
  });

  it("is closed with the session, also a connection that only old calls use", async () => {
    const { servers, run, begun } = await shared(answers(503));
    const [old] = await begun(1);
    await run("bad");
    await servers.close();
    expect(await old).toMatchObject({ outcome: "unknown" });
  });
});
