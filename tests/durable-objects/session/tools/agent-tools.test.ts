import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { httpTool } from "../../../../src/tools/http/http-tool";
import type { Tool, ToolResult } from "../../../../src/tools/tool";
import { toolAt } from "../../../tools/http/tool-builders";
import { type ToolCall, workingAgent } from "./tool-rig";

/** Which tool calls of one reply wait for each other, and which do not. */

/**
 * A real server. It answers all waiting requests when their number is that of the parameter
 * `together`, or when the test calls `answerAll`. For `/drips` it sends the headers at once.
 */
const waiting: ServerResponse[] = [];
const answerAll = () => void waiting.splice(0).map((response) => response.end("done"));
let server: Server;
let origin: string;
beforeAll(async () => {
  server = createServer(({ url }, response) => {
    const { pathname, searchParams } = new URL(url ?? "", "http://x");
    if (pathname === "/picture")
      return void response.writeHead(200, { "content-type": "image/png" }).end(png.bytes);
    waiting.push(response);
    if (pathname === "/drips")
      response.writeHead(200, { "content-type": "text/plain" }).flushHeaders();
    if (waiting.length >= Number(searchParams.get("together") ?? Number.POSITIVE_INFINITY))
      answerAll();
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => void server.closeAllConnections());

/** An HTTP tool that requests a path of the server. */
const look = (path: string): Tool =>
  httpTool(toolAt(origin + path, { timeoutMs: 20_000 }), () => undefined);

/** Like a tool of the operator: it may change files and sends a request. */
const clerk: Tool = {
  spec: {
    name: "clerk",
    description: "Asks, and files the answer.",
    parameters: { type: "object" },
  },
  rule: { name: "clerk", acts_outside: true, idempotent: false },
  run: async (_, { fetch, signal }) => ({
    outcome: "ok",
    text: await (await fetch(`${origin}/hangs?together=2`, { signal })).text(),
  }),
};

/**
 * Like a tool of a server with large results: it holds a lock until its result is stored.
 * `releasedAfter` gets the ended calls at the time of the release.
 */
const hoard = (releasedAfter: string[], toResult: () => ToolResult): Tool => ({
  spec: { name: "hoard", description: "Gives much.", parameters: { type: "object" } },
  rule: { name: "hoard", acts_outside: true, idempotent: false },
  leavesFiles: true,
  run: async (_, { onResultStored }) => {
    onResultStored?.(() => void releasedAfter.push(agent.ended().join()));
    return toResult();
  },
});

/** Like a command that was stopped: it has changed files and then fails. */
const failingTool: Tool = {
  spec: { name: "give_up", description: "Gives up.", parameters: { type: "object" } },
  rule: { name: "give_up", acts_outside: false, idempotent: true },
  run: async (_, { files }) => {
    await files?.write("a", png.bytes);
    await files?.read("a");
    await files?.write("/peers/nobody/a", png.bytes).catch(() => {});
    files?.remove("a");
    return { outcome: "error", text: "Stopped." };
  },
};

/** A tool that throws. */
const throwingTool = (
  rule: Pick<Tool["rule"], "acts_outside" | "idempotent">,
  kind: Pick<Tool, "staysInside" | "leavesFiles">,
  failure = new TypeError("hush is not a function"),
): Tool => ({
  spec: { name: "breaks", description: "Breaks.", parameters: { type: "object" } },
  rule: { name: "breaks", ...rule },
  leavesFiles: true,
  ...kind,
  run: () => Promise.reject(failure),
});
const png = {
  mediaType: "image/png",
  extension: "png",
  bytes: Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
};

const write = (path: string): ToolCall => ({ name: "write_file", args: { path, content: "x" } });
const repeatedCalls = (count: number, name: string): ToolCall[] =>
  Array.from({ length: count }, () => ({ name }));

type Working = Parameters<typeof workingAgent> extends [unknown, ...infer More] ? More : never;
let agent: ReturnType<typeof workingAgent>;

describe("an agent's tool calls", () => {
  const working = (tools: readonly Tool[], ...[calls, own, room]: Working) => {
    agent = workingAgent(tools, calls, own, room);
    agent.ask();
    return agent;
  };
  /** Silences error logs. Returns a function that returns what was logged. */
  const muteErrors = () => {
    const log = vi.spyOn(console, "error").mockReturnValue();
    return () => log.mock.calls.flat().join(" ");
  };
  const isOver = () => vi.waitFor(() => expect(agent.isOver()).toBe(true), 10_000);
  afterEach(async () => {
    vi.restoreAllMocks();
    answerAll();
    await vi.waitFor(() => {
      answerAll();
      expect(agent.isOver()).toBe(true);
    }, 10_000);
    expect(agent.faults).toEqual([]);
    agent.close();
  });

  it("over HTTP run at the same time", async () => {
    const { ended } = working([look("/hangs?together=2")], repeatedCalls(2, "look"));
    await isOver();
    expect(ended()).toEqual(["look ok", "look ok"]);
  });

  it("over HTTP need no slot after the server has sent headers", async () => {
    const { ended } = working([look("/drips?together=6")], repeatedCalls(6, "look"));
    await isOver();
    expect(ended()).toEqual(Array.from({ length: 6 }, () => "look ok"));
  });

  it("on files run while other calls wait for servers", async () => {
    const { ended } = working(
      [look("/hangs")],
      [...repeatedCalls(5, "look"), write("a"), write("b")],
    );
    await vi.waitFor(() => expect(ended()).toEqual(["write_file ok", "write_file ok"]), 10_000);
    await vi.waitFor(() => expect(waiting).toHaveLength(5), 10_000);
  });

  it("that wait for an earlier call on files use no slot", async () => {
    const { ended } = working(
      [clerk, look("/hangs?together=2")],
      [...repeatedCalls(4, "clerk"), { name: "look" }],
    );
    // The server responds when it has received both requests.
    await vi.waitFor(() => expect(ended()).toEqual(["clerk ok"]), 10_000);
  });

  it("release their lock only after their result is stored", async () => {
    const releasedAfter: string[] = [];
    const { ended } = working(
      [clerk, hoard(releasedAfter, () => ({ outcome: "ok", text: "much" }))],
      [{ name: "clerk" }, { name: "hoard" }],
    );
    await vi.waitFor(() => expect(waiting).toHaveLength(1), 10_000);
    expect([releasedAfter, ended()]).toEqual([[], []]);
    answerAll();
    await isOver();
    expect(releasedAfter).toEqual(["clerk ok,hoard ok"]);
  });

  it("release their lock when they are aborted", async () => {
    const releasedAfter: string[] = [];
    const { session } = working(
      [clerk, hoard(releasedAfter, () => ({ outcome: "ok", text: "" }))],
      [{ name: "clerk" }, { name: "hoard" }],
    );
    await vi.waitFor(() => expect(waiting).toHaveLength(1), 10_000);
    session().coordinator.handle({ type: "cancel_requested" });
    await isOver();
    expect(releasedAfter).toEqual([""]); // no call had ended at the release
  });

  it("release their lock when the tool throws", async () => {
    muteErrors();
    const releasedAfter: string[] = [];
    const throwError = (): never => {
      throw new Error("an internal error");
    };
    working([hoard(releasedAfter, throwError)], [{ name: "hoard" }]);
    await isOver();
    expect(releasedAfter).toHaveLength(1);
  });

  it.each([
    {
      name: "may have an effect outside",
      tool: throwingTool({ acts_outside: true, idempotent: false }, {}),
      outcome: "unknown",
    },
    {
      name: "may be repeated",
      tool: throwingTool({ acts_outside: true, idempotent: true }, {}),
      outcome: "error",
    },
    {
      name: "sends no request",
      tool: throwingTool({ acts_outside: true, idempotent: false }, { staysInside: true }),
      outcome: "error",
    },
    {
      name: "works on files",
      tool: throwingTool({ acts_outside: false, idempotent: true }, { leavesFiles: false }),
      outcome: "error",
    },
  ])(
    "end with an outcome if a tool that $name throws, and the team continues",
    async ({ tool, outcome }) => {
      const loggedErrors = muteErrors();
      const { session, events } = working([tool], [{ name: "breaks" }, write("a")]);
      await isOver();
      const ends = events().flatMap((event) => {
        if (event.type === "tool.unknown") return [`${event.name} unknown`];
        return event.type === "tool.completed" ? [`${event.name} ${event.outcome}`] : [];
      });
      expect([events().at(-1)?.type, ...ends.toSorted()]).toEqual([
        "turn.completed",
        `breaks ${outcome}`,
        "write_file ok",
      ]);
      const records = JSON.stringify(
        session().calls.read({ turn: 1, attempt: 1, agent: 0, round: 1 }),
      );
      expect(records).toContain(
        outcome === "unknown" ? "The outcome is unknown" : "The tool broke: a fault of the service",
      );
      expect(records).not.toContain("hush");
      expect(loggedErrors()).toContain("the tool breaks failed unexpectedly");
    },
  );

  it("with an unknown outcome give the server's response to the model and the log (F1)", async () => {
    const serverText = "HTTP 500\nstored order 7, then failed <b>";
    const rule = { name: "order", acts_outside: true, idempotent: false };
    const spec = {
      name: "order",
      description: "Orders.",
      parameters: { type: "object", properties: {} },
    };
    const order: Tool = { spec, rule, run: async () => ({ outcome: "unknown", text: serverText }) };
    const { session, events } = working([order], [{ name: "order" }]);
    await isOver();
    expect(events().find(({ type }) => type === "tool.unknown")).toMatchObject({
      name: "order",
      message: serverText,
    });
    const records = JSON.stringify(
      session().calls.read({ turn: 1, attempt: 1, agent: 0, round: 1 }),
    );
    expect(records).toContain("stored order 7, then failed");
    expect(records).toContain("The outcome is unknown");
  });

  it("report a fault of the platform instead of an outcome", async () => {
    muteErrors();
    const failure = new Error(
      "Durable Object storage operation exceeded timeout which caused object to be reset.",
    );
    const { faults } = working(
      [throwingTool({ acts_outside: false, idempotent: true }, {}, failure)],
      [{ name: "breaks" }],
    );
    await vi.waitFor(() => expect(faults).toContain(failure), 10_000);
    faults.length = 0;
    agent.session().coordinator.handle({ type: "cancel_requested" });
  });

  it("that fail are recorded with their file changes as dropped", async () => {
    const { events } = working([failingTool], [{ name: "give_up" }]);
    await isOver();
    const [accessed] = events().flatMap((event) =>
      event.type === "files.accessed" ? [event] : [],
    );
    expect(
      accessed?.accesses.map(({ operation, path, refused }) => [operation, path, refused]),
    ).toEqual([
      ["write", "/workspace/a", "not_kept"],
      ["read", "/workspace/a", null],
      ["write", "/peers/nobody/a", "unknown_place"],
      ["delete", "/workspace/a", "not_kept"],
    ]);
  });

  it("store the files of a result up to the size limit, also if the call failed", async () => {
    const files = [
      png,
      { ...png, bytes: new Uint8Array(17 * 1024 * 1024) },
      { ...png, bytes: png.bytes },
    ];
    const { events, session } = working(
      [hoard([], () => ({ outcome: "error", text: "Half.", files }))],
      [{ name: "hoard" }],
    );
    await isOver();
    const [accessed] = events().flatMap((event) =>
      event.type === "files.accessed" ? [event] : [],
    );
    expect(
      accessed?.accesses.map(({ operation, path, refused }) => [
        operation,
        path.replace(/_\d{8}T\d{6}Z_/, "_"),
        refused,
      ]),
    ).toEqual([
      ["write", "/workspace/.tool_results/hoard_t0_1.png", null],
      ["write", "/workspace/.tool_results/hoard_t0_2.png", "file_too_large"],
      ["write", "/workspace/.tool_results/hoard_t0_3.png", null],
    ]);
    const place = { turn: 1, attempt: 1, agent: 0, round: 1 };
    const text = JSON.stringify(session().calls.read(place)).replaceAll(/_\d{8}T\d{6}Z_/g, "_");
    expect(text).toContain("[file 1: .tool_results/hoard_t0_1.png, image/png, 8 bytes]");
    expect(text).toMatch(/\[file 2: image\/png, 17825792 bytes; not kept: [^\]]*16/);
    expect(text).toContain("[file 3: .tool_results/hoard_t0_3.png, image/png, 8 bytes]");
  });

  it("store a binary HTTP response in a file, and name the file", async () => {
    const { session } = working([look("/picture")], [{ name: "look" }]);
    await isOver();
    const place = { turn: 1, attempt: 1, agent: 0, round: 1 };
    const text = JSON.stringify(session().calls.read(place)).replaceAll(/_\d{8}T\d{6}Z_/g, "_");
    expect(text).toContain("[The server sent image/png, 8 bytes: file 1]");
    expect(text).toContain("[file 1: .tool_results/look_t0_1.png, image/png, 8 bytes]");
  });

  it.each([
    { name: "allows only short results", room: { tokens: 1_000 } },
    {
      name: "also has a provider that counts four times the estimated tokens",
      room: { tokens: 1_000, calibration: 4 },
    },
    {
      name: "has a provider that counts twice the estimated tokens",
      room: { calibration: 2 },
    },
  ])(
    "can read the rest of a result that is too large, if the conversation $name",
    async ({ room }) => {
      const text = Array.from({ length: 40_000 }, (_, nth) => `${nth}`).join(" ");
      const records = () =>
        JSON.stringify(agent.session().calls.read({ turn: 1, attempt: 1, agent: 0, round: 1 }));
      const readOn = (): ToolCall[] => {
        const [, path, start_char] =
          /read_file \(path: \\"([^"]+)\\", start_char: (\d+)\)/.exec(records()) ?? [];
        return [
          { name: "read_file", args: { path, start_char: Number(start_char) } },
          { name: "read_file", args: { path } },
          { name: "grep", args: { pattern: "39999", path } },
        ];
      };
      const calls = (reply: number) =>
        reply === 1 ? [{ name: "hoard" }] : reply === 2 ? readOn() : [];
      const { events, ended } = working(
        [hoard([], () => ({ outcome: "ok", text }))],
        calls,
        undefined,
        room,
      );
      await isOver();
      expect(ended()).toEqual(["hoard ok", "read_file ok", "read_file ok", "grep ok"]);
      const written = events().flatMap((event) =>
        event.type === "files.accessed"
          ? event.accesses.filter(({ operation }) => operation === "write")
          : [],
      );
      expect(written).toHaveLength(1);
      expect(records().match(/Read on with start_char: \d+/g)).toHaveLength(2);
      expect(records()).toContain(":1:…");
    },
  );

  it("on files are logged as started only after the call before has ended", async () => {
    const { events } = working([], [write("a"), write("b"), write("c")]);
    await isOver();
    const logged = events().flatMap((event) =>
      event.type === "tool.started" || event.type === "tool.completed"
        ? [`${event.type} ${event.tool_call}`]
        : [],
    );
    expect(logged).toEqual(
      ["t0", "t1", "t2"].flatMap((id) => [`tool.started ${id}`, `tool.completed ${id}`]),
    );
  });
});
