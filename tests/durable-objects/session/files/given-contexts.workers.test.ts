import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { hashOf } from "../../../../src/workspace/snapshot";
import type { ContextUpload, TurnChanges } from "../../../../src/protocol/api/contexts";
import type { WireEvent } from "../../../../src/protocol/events";
import { eventsPath, follow, post, request, type Run, start, teamOf } from "../session-client";

/**
 * Uploaded contexts in whole runs. All agents see the version that was the newest at the start of
 * the turn, and only the presenter changes it.
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
  const upload = await put();
  for (const text of Object.values(contents)) {
    if (!upload.missing.includes(await hash(text))) continue;
    const path = `/api/contexts/${name}/blobs/${await hash(text)}?version=${upload.version}`;
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

/** A setting with which a single agent coordinates and presents like a team. */
const FULL_PROTOCOL = { ui: { use_orchestrator_for_single_agent: true } };
const GRANTS = [
  { path: "site", permission: "write", protected_paths: ["LICENSE", "*.pem"] },
  { path: "docs" },
];

/** A team of these models with these contexts. */
function teamWithContexts(
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

/** The versions that a session has pinned, as `turn: name version`. */
async function pinsOf({ session_id }: Run): Promise<string[]> {
  const sql = "SELECT turn, name, version FROM context_pins WHERE session = ? ORDER BY turn, name";
  const { results } = await env.DB.prepare(sql)
    .bind(session_id)
    .all<{ turn: number; name: string; version: string }>();
  return results.map(({ turn, name, version }) => `${turn}: ${name} ${version}`);
}
/** Waits until the session has only these pins: versions are released soon after the turn. */
const waitForPins = (run: Run, pins: readonly string[]) =>
  vi.waitFor(async () => expect(await pinsOf(run)).toEqual(pins), 10_000);

describe("a team with contexts", () => {
  it("reads them, and its presenter changes the writable ones; clients can fetch the changes", async () => {
    const version = await push("site", SITE);
    const docs = await push("docs", { "a.md": "read me" });
    const run = await start(teamWithContexts(["editor"], GRANTS, FULL_PROTOCOL));
    const { events } = await follow(run);
    expect(events.at(-1)).toMatchObject({ type: "turn.completed" });
    expect(events.find(({ type }) => type === "turn.started")).toMatchObject({
      contexts: [
        { name: "site", version, permissions: { a0: "write" } },
        { name: "docs", permissions: { a0: "read" } },
      ],
    });

    const lines = trail(events);
    const firstWrite = lines.indexOf("write /contexts/site/index.html done");
    expect(lines.slice(0, firstWrite)).toEqual(
      expect.arrayContaining([
        "read /contexts/site/index.html done",
        "write /contexts/site/index.html read_only",
      ]),
    );
    expect(lines).toEqual(
      expect.arrayContaining([
        "write /contexts/site/LICENSE protected",
        "write /contexts/site/keys/a.pem protected",
        "write /contexts/docs/a.md read_only",
      ]),
    );

    await waitForPins(run, [`1: docs ${docs}`, `1: site ${version}`]);

    const edited = "<h1>page 42</h1>\n";
    expect(await changesOf(run)).toEqual({
      object: "list",
      data: [
        { context: "docs", base_version: docs, changes: [] },
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

  it("keeps copied files after the context was erased, and returns only contents that a change names", async () => {
    await push("site", SITE);
    await push("docs", { "a.md": "read me" });
    const run = await start(teamWithContexts(["editor", "critic"]));
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
    const copiedFile = await request(
      `/api/sessions/${run.session_id}/turns/1/answers/agent1.1/files/site/old.txt`,
    );
    expect(await copiedFile.text()).toBe("old\n");
    expect((await contents(run, SITE.LICENSE)).status).toBe(404);
    expect((await contents(run, "never written")).status).toBe(404);
    expect(
      (await request(`/api/sessions/${run.session_id}/turns/1/changes/blobs/nonsense`)).status,
    ).toBe(400);
    expect((await request(`/api/sessions/${run.session_id}/turns/2/changes`)).status).toBe(404);
  });

  it("sees in each turn the version that was the newest when the turn started", async () => {
    const first = await push("site", { "index.html": "page one" });
    const run = await start(
      teamWithContexts(["careless"], [{ path: "site", permission: "write" }]),
    );
    const second = await push("site", { "index.html": "page one", own: "page two" });
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
    const run = await start(
      teamWithContexts(["silent"], [{ path: "site", permission: "write" }], FULL_PROTOCOL),
    );
    const { events } = await follow(run);
    expect(trail(events)).toContain("write /contexts/site/index.html done");
    const fallbackEvent = {
      type: "presentation.completed",
      source: "answer",
      fallback: "empty",
      changed_files: 1,
    };
    expect(events).toContainEqual(expect.objectContaining(fallbackEvent));
    const change = { path: "index.html", hash: await hash("lost"), size: 4 };
    expect((await changesOf(run)).data).toEqual([
      { context: "site", base_version: version, changes: [change] },
    ]);
    expect(await (await contents(run, "lost")).text()).toBe("lost");
    await waitForPins(run, [`1: site ${version}`]);
  });

  it("has no changes while the turn runs, and none after the turn is cancelled", async () => {
    const version = await push("site", SITE);
    const run = await start(teamWithContexts(["dawdler"], [{ path: "site", permission: "write" }]));
    const logText = async () =>
      (
        await request(`${eventsPath(run)}?limit=1000`, { headers: { accept: "application/json" } })
      ).text();
    await vi.waitUntil(
      async () => (await logText()).includes('"path":"/contexts/site/index.html"'),
      {
        timeout: 10_000,
      },
    );
    expect(await changesOf(run)).toEqual({ object: "list", data: [] });
    expect(await pinsOf(run)).toEqual([`1: site ${version}`]);
    await post(`/api/sessions/${run.session_id}/cancel`);
    const { events } = await follow(run);
    expect(events.at(-1)).toMatchObject({ type: "turn.cancelled" });
    expect(await changesOf(run)).toEqual({ object: "list", data: [] });
    expect((await contents(run, "lost")).status).toBe(404);
    await waitForPins(run, [`1: site ${version}`]);
  });
});

describe("a missing context", () => {
  it("is reported before a run starts, with its place in the config and a remedy", async () => {
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
    const run = await start(teamWithContexts(["careless"], ["brief"]));
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
