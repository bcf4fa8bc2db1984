import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { hashOf } from "../../../../src/workspace/snapshot";
import type { ContextUpload, TurnChanges } from "../../../../src/protocol/api/contexts";
import type { WireEvent } from "../../../../src/protocol/events";
import { eventsPath, follow, post, request, type Run, start, teamOf } from "../session-client";

/**
 * Uploaded contexts in whole runs: all agents see the version at the turn's start, and only the
 * presenter changes it.
 */

const SITE = {
  "index.html": "<h1>page</h1>\n",
  LICENSE: "theirs",
  "keys/a.pem": "secret",
  "old.txt": "old\n",
  "empty.txt": "",
};

const hash = (text: string) => hashOf(new TextEncoder().encode(text));

/** Uploads a version and returns its id. */
async function push(name: string, contents: Record<string, string>): Promise<string> {
  const files = await Promise.all(
    Object.entries(contents).map(async ([path, text]) => ({
      path,
      sha256: await hash(text),
      size: text.length,
    })),
  );
  const put = async () => {
    const headers = { "content-type": "application/json" };
    return (
      await request(`/api/contexts/${name}`, {
        method: "PUT",
        headers,
        body: JSON.stringify({ files }),
      })
    ).json<ContextUpload>();
  };
  const begun = await put();
  for (const text of Object.values(contents)) {
    if (!begun.missing.includes(await hash(text))) continue;
    const path = `/api/contexts/${name}/blobs/${await hash(text)}?version=${begun.version}`;
    expect(
      (
        await request(path, {
          method: "PUT",
          headers: { "content-type": "application/octet-stream" },
          body: text,
        })
      ).status,
    ).toBe(200);
  }
  return (await put()).version;
}

/** One agent that takes part in the full protocol. */
const FULL = { ui: { use_orchestrator_for_single_agent: true } };
const GRANTS = [
  { path: "site", permission: "write", protected_paths: ["LICENSE", "*.pem"] },
  { path: "docs" },
];

function given(
  models: readonly string[],
  grants: readonly unknown[] = GRANTS,
  more: object = {},
): Record<string, unknown> {
  const team = teamOf(models);
  const agents = (team["agents"] as { backend: object }[]).map((agent) => ({
    ...agent,
    backend: { ...agent.backend, enable_mcp_command_line: true },
  }));
  return { ...team, agents, orchestrator: { context_paths: grants }, ...more };
}

const trail = (events: readonly WireEvent[]) =>
  events.flatMap((event) =>
    event.type === "files.accessed"
      ? event.accesses.map(
          ({ operation, path, refused }) => `${operation} ${path} ${refused ?? "done"}`,
        )
      : [],
  );

const changesOf = async ({ session_id, turn }: Run) =>
  (await request(`/api/sessions/${session_id}/turns/${turn}/changes`)).json<TurnChanges>();

const contents = async ({ session_id, turn }: Run, of: string): Promise<Response> =>
  request(`/api/sessions/${session_id}/turns/${turn}/changes/blobs/${await hash(of)}`);

/** The versions that a session holds, and for which turn. */
async function pinsOf({ session_id }: Run): Promise<string[]> {
  const sql = "SELECT turn, name, version FROM context_pins WHERE session = ? ORDER BY turn, name";
  const { results } = await env.DB.prepare(sql)
    .bind(session_id)
    .all<{ turn: number; name: string; version: string }>();
  return results.map(({ turn, name, version }) => `${turn}: ${name} ${version}`);
}
/** Versions are released soon after the turn. */
const comesToHold = (run: Run, pins: readonly string[]) =>
  vi.waitFor(async () => expect(await pinsOf(run)).toEqual(pins), 10_000);

describe("a team with contexts", () => {
  it("reads them, and its presenter changes the writable ones in a change set that can be fetched", async () => {
    const version = await push("site", SITE);
    await push("docs", { "a.md": "read me" });
    const run = await start(given(["editor"], GRANTS, FULL));
    const { events } = await follow(run);
    expect(events.at(-1)).toMatchObject({ type: "turn.completed" });
    expect(events.find(({ type }) => type === "turn.started")).toMatchObject({
      contexts: [
        { name: "site", version, permissions: { a0: "write" } },
        { name: "docs", permissions: { a0: "read" } },
      ],
    });

    const lines = trail(events);
    const [before, after] = [
      lines.slice(0, lines.indexOf("write /contexts/site/index.html done")),
      lines,
    ];
    expect(before).toEqual(
      expect.arrayContaining([
        "read /contexts/site/index.html done",
        "write /contexts/site/index.html read_only",
      ]),
    );
    expect(after).toEqual(
      expect.arrayContaining([
        "write /contexts/site/LICENSE protected",
        "write /contexts/site/keys/a.pem protected",
        "write /contexts/docs/a.md read_only",
      ]),
    );

    await comesToHold(run, [`1: site ${version}`]);

    const edited = "<h1>page 42</h1>\n";
    expect(await changesOf(run)).toEqual({
      object: "list",
      data: [
        {
          context: "site",
          base_version: version,
          changes: [
            { path: "index.html", hash: await hash(edited), size: edited.length },
            { path: "new/n", hash: await hash("42\n"), size: 3 },
            { path: "new/old.txt", hash: await hash("old\n"), size: 4 },
            { path: "old.txt", hash: null, size: 0 },
          ],
        },
      ],
    });
    for (const text of [edited, "42\n", "old\n"]) {
      const response = await contents(run, text);
      expect([response.status, await response.text()]).toEqual([200, text]);
      expect(response.headers.get("content-disposition")).toContain("attachment");
      expect(response.headers.get("x-content-type-options")).toBe("nosniff");
    }
  });

  it("keeps a copied file after the context was erased, and returns only contents that a change names", async () => {
    await push("site", SITE);
    await push("docs", { "a.md": "read me" });
    const run = await start(given(["editor", "critic"]));
    await follow(run);
    await request("/api/contexts/site", { method: "DELETE" });
    const label = (
      await (await request(`/api/sessions/${run.session_id}/turns/1`)).json<{ label: string }>()
    ).label;
    expect(label).toMatch(/final$/);
    const list = await request(`/api/sessions/${run.session_id}/turns/1/answers/agent1.1/files`);
    const { data } = await list.json<{ data: { path: string }[] }>();
    expect(data.map(({ path }) => path)).toEqual(
      Object.keys(SITE)
        .map((path) => `site/${path}`)
        .sort(),
    );
    const kept = await request(
      `/api/sessions/${run.session_id}/turns/1/answers/agent1.1/files/site/old.txt`,
    );
    expect(await kept.text()).toBe("old\n");
    expect((await contents(run, SITE.LICENSE)).status).toBe(404);
    expect((await contents(run, "never written")).status).toBe(404);
    expect(
      (await request(`/api/sessions/${run.session_id}/turns/1/changes/blobs/nonsense`)).status,
    ).toBe(400);
    expect((await request(`/api/sessions/${run.session_id}/turns/2/changes`)).status).toBe(404);
  });

  it("sees in each turn the version that was uploaded before the turn", async () => {
    const first = await push("site", { "index.html": "page one" });
    const run = await start(given(["careless"], [{ path: "site", permission: "write" }]));
    const second = await push("site", { "index.html": "page two" });
    await follow(run);
    expect(await changesOf(run)).toMatchObject({ data: [{ base_version: first }] });
    const next = { session_id: run.session_id, turn: 2 };
    expect(
      (await post(`/api/sessions/${run.session_id}/turns`, { question: "And now?" })).status,
    ).toBe(202);
    await follow(next);
    expect(await changesOf(next)).toMatchObject({ data: [{ base_version: second }] });
    expect(await changesOf(run)).toMatchObject({ data: [{ base_version: first }] });
  });

  it("keeps the presenter's changes if the presentation falls back to an answer (D3)", async () => {
    const version = await push("site", SITE);
    const fallen = await start(given(["silent"], [{ path: "site", permission: "write" }], FULL));
    const { events } = await follow(fallen);
    expect(trail(events)).toContain("write /contexts/site/index.html done");
    const fellBack = {
      type: "presentation.completed",
      source: "answer",
      fallback: "empty",
      changed_files: 1,
    };
    expect(events).toContainEqual(expect.objectContaining(fellBack));
    const change = { path: "index.html", hash: await hash("lost"), size: 4 };
    expect((await changesOf(fallen)).data).toEqual([
      { context: "site", base_version: version, changes: [change] },
    ]);
    expect(await (await contents(fallen, "lost")).text()).toBe("lost");
    await comesToHold(fallen, [`1: site ${version}`]);
  });

  it("changes nothing while the turn runs, and nothing if the turn is cancelled", async () => {
    const version = await push("site", SITE);
    const run = await start(given(["dawdler"], [{ path: "site", permission: "write" }]));
    const soFar = async () =>
      (
        await request(`${eventsPath(run)}?limit=1000`, { headers: { accept: "application/json" } })
      ).text();
    await vi.waitUntil(async () => (await soFar()).includes('"path":"/contexts/site/index.html"'), {
      timeout: 10_000,
    });
    expect(await changesOf(run)).toEqual({ object: "list", data: [] });
    expect(await pinsOf(run)).toEqual([`1: site ${version}`]);
    await post(`/api/sessions/${run.session_id}/cancel`);
    const { events } = await follow(run);
    expect(events.at(-1)).toMatchObject({ type: "turn.cancelled" });
    expect(await changesOf(run)).toEqual({ object: "list", data: [] });
    expect((await contents(run, "lost")).status).toBe(404);
    await comesToHold(run, []);
  });
});

describe("a missing context", () => {
  it("is reported before the run, with its place in the config and a remedy", async () => {
    const config_yaml = `agent: {id: a, backend: {type: ollama, model: m}}\norchestrator:\n  context_paths: [{path: nowhere}]\n`;
    const response = await post("/api/runs", { question: "?", config_yaml });
    const problem = await response.json<{
      code: string;
      errors: { line: number; need: string; detail: string }[];
    }>();
    expect([response.status, problem.code]).toEqual([422, "config_invalid"]);
    const missing = problem.errors.find(({ need }) => need === "host_context_path");
    expect(missing).toMatchObject({
      line: 3,
      detail: expect.stringContaining("Run `massgen-edge push --name nowhere`."),
    });
    const check = await post("/api/configs/validate", { config_yaml });
    expect(await check.json()).toMatchObject({
      runnable: false,
      refusals: [{ need: "host_context_path" }],
    });
  });

  it("also refuses the next turn of a session", async () => {
    await push("brief", { "a.md": "x" });
    const run = await start(given(["careless"], ["brief"]));
    await follow(run);
    await request("/api/contexts/brief", { method: "DELETE" });
    const response = await post(`/api/sessions/${run.session_id}/turns`, { question: "And now?" });
    expect(response.status).toBe(422);
    expect(await response.json()).toMatchObject({
      code: "context_missing",
      contexts: ["brief"],
      detail: expect.stringContaining("`massgen-edge push --name brief`"),
    });
  });
});
