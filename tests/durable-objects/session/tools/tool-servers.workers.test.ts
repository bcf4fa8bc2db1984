import { abortAllDurableObjects } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, inject, it, vi } from "vitest";
import { sessionPrefix } from "../../../../r2-layout/session-files";
import type { WireEvent } from "../../../../src/protocol/events";
import type { SessionFiles } from "../../../../src/protocol/api/files";
import { LOCAL_TENANT } from "../../../../src/tenancy/principal";
import { PIXEL } from "../../../../simulated/tool-servers/pixel";
import { follow, post, request, start, withServers } from "../session-client";

/**
 * Agents with tool servers, in whole runs in the real runtime. The servers use the official SDK of
 * the protocol (MCP).
 */

const ofType = <T extends WireEvent["type"]>(events: readonly WireEvent[], type: T) =>
  events.filter((event): event is Extract<WireEvent, { type: T }> => event.type === type);

const box = (more: object = {}) => ({ name: "box", url: inject("toolServerUrl"), ...more });
const DOWN = { name: "down", url: "http://127.0.0.1:9/mcp" };

/** The tool lists in the log, with the names of the tools. */
const toolLists = (events: readonly WireEvent[]) =>
  ofType(events, "tools.listed").map(({ agent, server, tools, problem }) => ({
    agent,
    server,
    tools: tools.map(({ name }) => name),
    isDown: problem !== null,
  }));
const outcomes = (events: readonly WireEvent[]) =>
  [...ofType(events, "tool.completed")].map(
    ({ agent, name, outcome }) => `${agent} ${name} ${outcome}`,
  );

describe("agents with tool servers", () => {
  it("get the tools before their first call, can use them, and continue without an unreachable server", async () => {
    const { events } = await follow(await start(withServers(["adder", "plain"], [box(), DOWN])));
    expect(events.at(-1)).toMatchObject({
      type: "turn.completed",
      answer: expect.stringContaining("Results: 2"),
    });
    expect(toolLists(events).filter(({ agent }) => agent === "a0")).toEqual([
      {
        agent: "a0",
        server: "box",
        tools: ["mcp__box__add", "mcp__box__recite", "mcp__box__ask"],
        isDown: false,
      },
      { agent: "a0", server: "down", tools: [], isDown: true },
    ]);
    expect(outcomes(events)).toContain("a0 mcp__box__add ok");
    const types = events
      .filter((event) => "agent" in event && event.agent === "a0")
      .map(({ type }) => type);
    expect(types.indexOf("call.started")).toBeGreaterThan(types.lastIndexOf("tools.listed"));
  });

  it("do not get a tool whose schema their model does not support, and the log names it", async () => {
    const mcp_servers = [box({ url: inject("unsupportedSchemaUrl") })];
    const base_url = inject("providersUrl");
    const common = { api_key: "caller-key", mcp_servers };
    const backends = [
      { type: "gemini", model: "gemini-2.5-flash", base_url: new URL(base_url).origin, ...common },
      { type: "chatcompletion", model: "plain", base_url, ...common },
    ];
    const { events } = await follow(
      await start({ agents: backends.map((backend, nth) => ({ id: `a${nth}`, backend })) }),
    );
    expect(toolLists(events).map(({ agent, tools }) => [agent, ...tools])).toEqual(
      expect.arrayContaining([
        ["a0", "mcp__box__plain"],
        ["a1", "mcp__box__plain", "mcp__box__excluding"],
      ]),
    );
    const why = expect.stringContaining(
      "not supported by the agent's model: `not` at /properties/a",
    );
    const [ofFirst] = ofType(events, "tools.listed").filter(({ agent }) => agent === "a0");
    expect(ofFirst?.refused).toEqual([{ tool: "excluding", changed: false, why }]);
    expect(ofType(events, "call.failed")).toEqual([]);
    expect(events.at(-1)).toMatchObject({ type: "turn.completed" });
    expect(ofType(events, "answer.submitted").map(({ agent }) => agent)).toContain("a0");
  });

  it("have only the tools that the filters of the server and of the backend both allow", async () => {
    const server = box({ allowed_tools: ["add", "ask"] });
    const { events } = await follow(
      await start(withServers(["quick"], [server], { exclude_tools: ["mcp__box__ask"] })),
    );
    expect(toolLists(events)).toEqual([
      { agent: "a0", server: "box", tools: ["mcp__box__add"], isDown: false },
    ]);
  });

  it("in planning mode only plan calls with side effects, and make them when they present", async () => {
    const config = {
      ...withServers(["adder", "plain"], [box()]),
      orchestrator: { coordination: { enable_planning_mode: true } },
    };
    const { events } = await follow(await start(config));
    expect(events.at(-1)).toMatchObject({
      type: "turn.completed",
      answer: expect.stringContaining("Results: 2"),
    });
    expect(outcomes(events)).toEqual(["a0 mcp__box__add planned", "a0 mcp__box__add ok"]);
  });

  it("get the tools again in each turn, and unchanged tools have the same hash", async () => {
    const first = await start(withServers(["quick"], [box()]));
    const { events: before } = await follow(first);
    const response = await request(`/api/sessions/${first.session_id}/turns`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ question: "And seven times eight?" }),
    });
    expect(response.status).toBe(202);
    const { events: after } = await follow({ session_id: first.session_id, turn: 2 });
    const hashes = (events: readonly WireEvent[]) =>
      ofType(events, "tools.listed").map(({ tools }) => tools.map(({ hash }) => hash));
    expect(hashes(after)).toEqual(hashes(before));
    expect(hashes(after)[0]).toHaveLength(3);
  });

  it("use tokens that were renewed before a restart, also if each refresh token works only once", async () => {
    const [url, issuer] = [inject("rotatingServerUrl"), inject("rotatingIssuer")];
    const auth = {
      type: "authorization_code",
      issuer,
      client_id: "us",
      refresh_token: "${BOX_REFRESH}",
    };
    const run = await start(withServers(["quick"], [box({ url, auth })]));
    const { events: before } = await follow(run);
    await abortAllDurableObjects();
    expect(
      (await post(`/api/sessions/${run.session_id}/turns`, { question: "And seven times eight?" }))
        .status,
    ).toBe(202);
    const { events: after } = await follow({ ...run, turn: 2 });
    const expectedList = { agent: "a0", server: "box", tools: ["mcp__box__act"], isDown: false };
    expect([toolLists(before), toolLists(after)]).toEqual([[expectedList], [expectedList]]);
  });

  it("D18 log a server's elicitation with its origin, and do not answer it", async () => {
    const url = inject("askingServerUrl");
    const { text, events } = await follow(await start(withServers(["asker"], [box({ url })])));
    expect(events.at(-1)).toMatchObject({
      type: "turn.completed",
      answer: expect.stringContaining("and nobody was asked"),
    });
    const { origin } = new URL(url);
    const place = { turn: 1, attempt: 1, agent: "a0", round: 1, name: "mcp__box__ask", origin };
    const nowhere = { kind: "url", url: null };
    expect(ofType(events, "tool.input_required")).toMatchObject([
      {
        ...place,
        tool_call: expect.any(String),
        requests: [
          {
            kind: "form",
            message: "Your API key?\\u{202e}\\u{7} It is safe with us.",
            url: null,
            refused: null,
          },
          {
            ...nowhere,
            message: "Open this",
            refused: "its scheme is javascript, and only https is shown",
          },
          { ...nowhere, message: "Or this", refused: "it names a user before its host" },
          { kind: "url", message: "Pay", url: "https://pay.example.com/x", refused: null },
        ],
      },
    ]);
    expect(outcomes(events)).toEqual(["a0 mcp__box__ask error"]);
    expect(text).not.toMatch(/javascript:|bank\.example\.com/);
  });

  it("report progress of their tools at a limited rate, with the origin", async () => {
    const url = inject("askingServerUrl");
    const { events } = await follow(await start(withServers(["asker"], [box({ url })])));
    const progress = ofType(events, "tool.progressed");
    expect(progress[0]).toMatchObject({
      agent: "a0",
      name: "mcp__box__ask",
      origin: new URL(url).origin,
      progress: 1,
      total: 1_000,
    });
    expect(progress[0]?.message).toBe("reads\\u{7} pages");
    expect(progress.length).toBeLessThan(5);
    const types = events.map(({ type }) => type);
    const order = [
      "tool.started",
      "tool.progressed",
      "tool.input_required",
      "tool.completed",
    ] as const;
    expect(order.map((type) => types.indexOf(type))).toEqual(
      order.map((type) => types.indexOf(type)).toSorted((a, b) => a - b),
    );
    expect(types).toEqual(expect.arrayContaining([...order]));
  });

  it("get images and resources as files in their workspace, and the result names the files", async () => {
    const url = inject("mediaServerUrl");
    const { events } = await follow(
      await start(withServers(["painter"], [box({ url })], { cwd: "work" })),
    );
    const end = events.at(-1);
    expect(end).toMatchObject({ type: "turn.completed" });
    const [drawn = "", scanned, shattered, listing] = (
      end?.type === "turn.completed" ? end.answer : ""
    )
      .replace(/^.*?Results: /s, "")
      .split(" | ");
    const file = (nth: number, tool: string, ends: string) =>
      String.raw`\[file ${nth}: \.tool_results/mcp__box__${tool}_\d{8}T\d{6}Z_[\w-]+_${nth}\.${ends}\]`;
    expect(drawn.split("\n")).toEqual([
      "One pixel, its notes, its source and where it hangs:",
      "[image, image/png, 70 bytes: file 1]",
      "[resource box://notes\\u{1b}, text/markdown]",
      "# Notes",
      "It is red.",
      "[resource ../../etc/passwd, application/zlib, 11 bytes: file 2]",
      "[link to a resource http://127.0.0.1:9/gallery, gallery, 7 bytes; not fetched]",
      "[image, said to be image/png; not kept: it has no data, or none that is base64]",
      "",
      expect.stringMatching(new RegExp(`^${file(1, "draw", "png, image/png, 70 bytes")}$`)),
      expect.stringMatching(new RegExp(`^${file(2, "draw", "bin, application/zlib, 11 bytes")}$`)),
    ]);
    expect(scanned).toMatch(
      new RegExp(file(1, "scan", "bin, application/octet-stream, 1500000 bytes")),
    );
    expect(shattered).toBe(
      "It broke on the way.\n[audio, said to be audio/wav; not kept: it has no data, or none that is base64]",
    );
    expect(listing?.match(/mcp__box__(draw|scan)_\S+?_\d\.(png|bin)/g)).toHaveLength(3);
    expect(
      outcomes(events).filter((line) => line.includes("mcp__box__") && !line.endsWith(" ok")),
    ).toEqual([]);
  });

  it("do not hand over these files with their answers, but all of them are in R2", async () => {
    const { session_id } = await start(
      withServers(["painter", "plain"], [box({ url: inject("mediaServerUrl") })], { cwd: "work" }),
    );
    expect((await follow({ session_id, turn: 1 })).events.at(-1)).toMatchObject({
      type: "turn.completed",
    });
    const filesOf = async (path: string) => {
      const { data } = await (
        await request(`/api/sessions/${session_id}/turns/1${path}/files`)
      ).json<SessionFiles>();
      return data.map((file) => file.path);
    };
    expect(await filesOf("/answers/agent1.1")).toEqual(["frame.txt"]);
    expect(await filesOf("")).toEqual(["NOTES.md", "frame.txt"]);
    const prefix = `${sessionPrefix(LOCAL_TENANT, session_id)}tool-results/1/1/agent1/`;
    const names = async () =>
      (await env.BUCKET.list({ prefix })).objects.map(({ key, size }) => `${nameOf(key)} ${size}`);
    const nameOf = (key: string) =>
      key.slice(prefix.length).replace(/^\d+\/(\w+)_\d{8}T\d{6}Z_[\w-]+(?=_\d\.)/, "$1");
    const drawn = ["mcp__box__draw_1.png 70", "mcp__box__draw_2.bin 11"];
    const all = [...drawn, ...drawn, "mcp__box__scan_1.bin 1500000"].toSorted();
    await vi.waitFor(async () => expect((await names()).toSorted()).toEqual(all), 10_000);
    const [first] = (await env.BUCKET.list({ prefix: `${prefix}1/mcp__box__draw_` })).objects;
    const bytes = await (await env.BUCKET.get(first?.key ?? ""))?.arrayBuffer();
    expect(Buffer.from(bytes ?? []).toString("base64")).toBe(PIXEL);
  });

  it("without a workspace get a note with a remedy instead of the files", async () => {
    const { events } = await follow(
      await start(withServers(["admirer"], [box({ url: inject("mediaServerUrl") })])),
    );
    const why =
      "not kept: the agent has no files to keep it in; `cwd` in the agent's backend gives it some";
    expect(events.at(-1)).toMatchObject({
      type: "turn.completed",
      answer: expect.stringContaining(
        `\n[file 1: image/png, 70 bytes; ${why}]\n[file 2: application/zlib, 11 bytes; ${why}] | It broke on the way.`,
      ),
    });
  });

  it("get a result that is too large for the conversation as a file in their workspace", async () => {
    const { events } = await follow(
      await start(withServers(["reciter"], [box()], { cwd: "work" })),
    );
    expect(events.at(-1)).toMatchObject({
      type: "turn.completed",
      answer: expect.stringMatching(
        /\.tool_results\/mcp__box__recite_\S+\.txt.* \| .*mcp__box__recite_\S+\.txt/s,
      ),
    });
  });
});
