import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { httpTool } from "../../../../src/tools/http/http-tool";
import type { Tool, ToolResult } from "../../../../src/tools/tool";
import { toolAt } from "../../../tools/http/tool-builders";
import { type ToolCall, workingAgent } from "./tool-rig";

/** Which tool calls of one reply wait for each other, and which do not. */

/**
 * A real server: requests for a path wait for a number of concurrent requests, or for `release`;
 * with early headers or without.
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

const look = (path: string): Tool =>
  httpTool(toolAt(origin + path, { timeoutMs: 20_000 }), () => undefined);

/** Like an operator's tool: it may change files, and sends a request. */
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

/** Like a tool server with large results: others wait until the result is stored. */
const hoard = (releasedAfter: string[], given: () => ToolResult): Tool => ({
  spec: { name: "hoard", description: "Gives much.", parameters: { type: "object" } },
  rule: { name: "hoard", acts_outside: true, idempotent: false },
  leavesFiles: true,
  run: async (_, { onResultStored }) => {
    onResultStored?.(() => void releasedAfter.push(agent.ended().join()));
    return given();
  },
});

/** Like a stopped command: it has changed files and then failed. */
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

/** A tool with a defect. */
const breaking = (
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
const times = (count: number, name: string): ToolCall[] =>
  Array.from({ length: count }, () => ({ name }));

type Working = Parameters<typeof workingAgent> extends [unknown, ...infer More] ? More : never;
let agent: ReturnType<typeof workingAgent>;

describe("an agent's tool calls", () => {
  const working = (tools: readonly Tool[], ...[calls, own, room]: Working) => {
    agent = workingAgent(tools, calls, own, room);
    agent.ask();
    return agent;
  };
  const silently = () => {
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

  it("over HTTP run concurrently with each other and with file tools", async () => {
    const { ended } = working([look("/hangs?together=2")], times(2, "look"));
    await isOver();
    expect(ended()).toEqual(["look ok", "look ok"]);
  });

  it("over HTTP block no other call once the server has sent headers", async () => {
    const { ended } = working([look("/drips?together=6")], times(6, "look"));
    await isOver();
    expect(ended()).toEqual(Array.from({ length: 6 }, () => "look ok"));
  });

  it("on files run while the limit of calls waits for servers", async () => {
    const { ended } = working([look("/hangs")], [...times(5, "look"), write("a"), write("b")]);
    await vi.waitFor(() => expect(ended()).toEqual(["write_file ok", "write_file ok"]), 10_000);
    await vi.waitFor(() => expect(waiting).toHaveLength(3), 10_000);
  });

  it("that wait for their lock hold no slot", async () => {
    const { ended } = working(
      [clerk, look("/hangs?together=2")],
      [...times(4, "clerk"), { name: "look" }],
    );
    // The server responds when it has received both requests.
    await vi.waitFor(() => expect(ended()).toEqual(["clerk ok"]), 10_000);
  });

  it("release their lock when their result is stored, not before", async () => {
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
    expect(releasedAfter).toEqual([""]); // while nothing was settled
  });

  it("release their lock when the tool throws", async () => {
    silently();
    const releasedAfter: string[] = [];
    const breaks = (): never => {
      throw new Error("a fault of ours");
    };
    working([hoard(releasedAfter, breaks)], [{ name: "hoard" }]);
    await isOver();
    expect(releasedAfter).toHaveLength(1);
  });

  it.each([
    {
      name: "may have taken effect",
      tool: breaking({ acts_outside: true, idempotent: false }, {}),
      outcome: "unknown",
    },
    {
      name: "may be repeated",
      tool: breaking({ acts_outside: true, idempotent: true }, {}),
      outcome: "error",
    },
    {
      name: "sends no request",
      tool: breaking({ acts_outside: true, idempotent: false }, { staysInside: true }),
      outcome: "error",
    },
    {
      name: "works on files",
      tool: breaking({ acts_outside: false, idempotent: true }, { leavesFiles: false }),
      outcome: "error",
    },
  ])("end alone if a tool that $name throws, and the team continues", async ({ tool, outcome }) => {
    const written = silently();
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
    expect(written()).toContain("the tool breaks failed unexpectedly");
  });

  it("of unknown outcome give the model and the log the server's response (F1)", async () => {
    const said = "HTTP 500\nstored order 7, then failed <b>";
    const rule = { name: "order", acts_outside: true, idempotent: false };
    const spec = {
      name: "order",
      description: "Orders.",
      parameters: { type: "object", properties: {} },
    };
    const order: Tool = { spec, rule, run: async () => ({ outcome: "unknown", text: said }) };
    const { session, events } = working([order], [{ name: "order" }]);
    await isOver();
    expect(events().find(({ type }) => type === "tool.unknown")).toMatchObject({
      name: "order",
      message: said,
    });
    const records = JSON.stringify(
      session().calls.read({ turn: 1, attempt: 1, agent: 0, round: 1 }),
    );
    expect(records).toContain("stored order 7, then failed");
    expect(records).toContain("The outcome is unknown");
  });

  it("leave it to the session to restart after a fault of the platform", async () => {
    silently();
    const failure = new Error(
      "Durable Object storage operation exceeded timeout which caused object to be reset.",
    );
    const { faults } = working(
      [breaking({ acts_outside: false, idempotent: true }, {}, failure)],
      [{ name: "breaks" }],
    );
    await vi.waitFor(() => expect(faults).toContain(failure), 10_000);
    faults.length = 0;
    agent.session().coordinator.handle({ type: "cancel_requested" });
  });

  it("are recorded with their file changes as dropped where they failed", async () => {
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

  it("keep the files of a result up to the limit, whatever the outcome", async () => {
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
    { name: "takes little", room: { tokens: 1_000 } },
    {
      name: "has four times the estimated size",
      room: { tokens: 1_000, calibration: 4 },
    },
    {
      name: "is typical, with a provider that counts twice the estimate",
      room: { calibration: 2 },
    },
  ])("read the rest of a too large result if the conversation $name", async ({ room }) => {
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
  });

  it("start only when they hold the lock, so that a restart finds no started call that only waited", async () => {
    const { events } = working([], [write("a"), write("b"), write("c")]);
    await isOver();
    const story = events().flatMap((event) =>
      event.type === "tool.started" || event.type === "tool.completed"
        ? [`${event.type} ${event.tool_call}`]
        : [],
    );
    expect(story).toEqual(
      ["t0", "t1", "t2"].flatMap((id) => [`tool.started ${id}`, `tool.completed ${id}`]),
    );
  });
});
