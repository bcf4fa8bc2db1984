import { describe, expect, it } from "vitest";
import type { Diff } from "../../../src/protocol/api/diff";
import { hashOf } from "../../../src/workspace/snapshot";
import {
  post,
  request,
  type Run,
  start,
  teamOf,
  follow,
} from "../../durable-objects/session/session-client";
import { ask, askWith, makeKey } from "../keyed-client";

/** Diffs of whole sessions. The models do what the question says. */

const steps = (...calls: [tool: string, args: object][]): string =>
  calls.map(([tool, args]) => `first ${tool} ${JSON.stringify(args)}`).join("\n");
const write = (path: string, content: string): [string, object] => [
  "write_file",
  { path, content },
];
const shell = (command: string): [string, object] => ["run_command", { command }];

function teamWith(orchestrator: object = {}, models = ["obedient"]): Record<string, unknown> {
  const team = teamOf(models);
  const agents = (team["agents"] as { backend: object }[]).map((agent) => ({
    ...agent,
    backend: { ...agent.backend, enable_mcp_command_line: true, cwd: "work" },
  }));
  return { ...team, agents, orchestrator };
}

/** Two agents, so that the turn has answers and a vote. */
const TEAM = () => teamWith({}, ["obedient", "obedient"]);

async function begin(question: string, team = teamWith()): Promise<Run> {
  const run = await start(team, { question });
  await follow(run);
  return run;
}

async function next({ session_id }: Run, body: object): Promise<Run> {
  const response = await post(`/api/sessions/${session_id}/turns`, body);
  if (response.status !== 202) throw new Error(await response.text());
  const run = await response.json<Run>();
  await follow(run);
  return run;
}

const get = ({ session_id }: Run, query = "", headers: Record<string, string> = {}) =>
  request(`/api/sessions/${session_id}/diff${query}`, { headers });
async function diffOf(run: Run, query = ""): Promise<Diff> {
  const response = await get(run, query);
  if (response.status !== 200) throw new Error(await response.text());
  return response.json<Diff>();
}
const linesOf = ({ data }: Diff): string[] =>
  data.map(({ change, path, from_path, hunks, not_compared }) =>
    [
      ...[change, from_path === undefined ? path : `${from_path} → ${path}`],
      ...hunks.flatMap(({ lines }) => lines),
      ...(not_compared === undefined ? [] : [not_compared]),
    ].join(" | "),
  );

/** Uploads a version of a context. */
async function push(name: string, contents: Record<string, string>): Promise<void> {
  const hash = (text: string) => hashOf(new TextEncoder().encode(text));
  const files = await Promise.all(
    Object.entries(contents).map(async ([path, text]) => ({
      ...{ path, sha256: await hash(text), size: text.length },
    })),
  );
  const put = async (path: string, type: string, body: string) =>
    (await request(path, { method: "PUT", headers: { "content-type": type }, body })).json<{
      version: string;
      missing: string[];
    }>();
  const context = `/api/contexts/${name}`;
  const commit = () => put(context, "application/json", JSON.stringify({ files }));
  const upload = await commit();
  for (const text of Object.values(contents)) {
    if (!upload.missing.includes(await hash(text))) continue;
    const blob = `${context}/blobs/${await hash(text)}?version=${upload.version}`;
    await put(blob, "application/octet-stream", text);
  }
  await commit();
}

describe("the diff of a session", () => {
  it("compares the latest completed turn with its parent, without references", async () => {
    const run = await begin(
      steps(write("a.txt", "one\ntwo\n"), write("old/b.txt", "same\n"), write("gone", "x")),
    );
    const second = steps(
      shell(
        "mkdir new && mv old/b.txt new/b.txt && cat gone && rm gone && printf '\\0\\001' > image.png",
      ),
      write("a.txt", "one\n2\n"),
      shell("echo echo > run.sh && chmod +x run.sh"),
    );
    await next(run, { question: second });
    const diff = await diffOf(run);
    expect(diff).toMatchObject({
      object: "diff",
      from: { reference: "turn_1", turn: 1, label: "agent1.final", status: "completed" },
      to: { reference: "turn_2", turn: 2 },
      counts: { added: 2, deleted: 1, changed: 1, renamed: 1 },
      more: 0,
    });
    expect(linesOf(diff)).toEqual([
      "changed | a.txt |  one | -two | +2",
      "deleted | gone | -x | \\ No newline at end of file",
      "added | image.png | binary",
      "renamed | old/b.txt → new/b.txt",
      "added | run.sh | +echo",
    ]);
    expect(diff.data.find(({ path }) => path === "image.png")?.to).toEqual({
      sha256: await hashOf(new Uint8Array([0, 1])),
      size: 2,
    });
    const parts = diff.answer?.parts ?? [];
    expect(parts.some(({ op }) => op === "added")).toBe(true);
    const whole = parts.map(({ op, text }) => (op === "deleted" ? "" : text)).join("");
    const turn = await (await request(`/api/sessions/${run.session_id}/turns/2`)).json<{
      answer: string;
    }>();
    expect(whole).toBe(turn.answer);
  });

  it("compares turns, branches and answers in any direction", async () => {
    const run = await begin(steps(write("a.txt", "one\n")), TEAM());
    await next(run, { question: steps(write("a.txt", "two\n")) });
    await next(run, { question: steps(write("b.txt", "b\n")), parent_turn: 1 });
    const of = async (query: string) => linesOf(await diffOf(run, query));
    expect(await of("?from=turn_2&to=turn_3")).toEqual([
      "changed | a.txt | -two | +one",
      "added | b.txt | +b",
    ]);
    expect(await of("?from=turn_3&to=turn_2")).toEqual([
      "changed | a.txt | -one | +two",
      "deleted | b.txt | -b",
    ]);
    expect(await of("?to=turn_3")).toEqual(["added | b.txt | +b"]);
    expect(await of("?from=turn_3&to=parent")).toEqual(["deleted | b.txt | -b"]);
    expect(await of("?to=turn_1")).toEqual(["added | a.txt | +one"]);
    expect(await of("?from=turn_1&to=turn_2/agent1.1")).toEqual(["changed | a.txt | -one | +two"]);
    expect(await diffOf(run, "?from=turn_2/attempt_1/agent1.1&to=turn_2")).toMatchObject({
      from: { reference: "turn_2/attempt_1/agent1.1", attempt: 1, label: "agent1.1" },
      data: [],
    });
    expect(await diffOf(run, "?to=turn_1")).toMatchObject({
      from: { reference: "parent", turn: null, status: null },
      answer: { from: null },
    });
  });

  it("compares contexts with the user's version, or with the state of the parent", async () => {
    await push("diffed", { "index.html": "one\n", "style.css": "plain\n" });
    const grants = [{ path: "diffed", permission: "write" }];
    const site = "/contexts/diffed";
    const run = await begin(
      steps(write(`${site}/index.html`, "team\n")),
      teamWith({ context_paths: grants }, ["obedient", "obedient"]),
    );
    expect(linesOf(await diffOf(run))).toEqual([
      "changed | contexts/diffed/index.html | -one | +team",
    ]);
    await push("diffed", { "index.html": "one\n", "style.css": "fancy\n" });
    await next(run, { question: steps(write(`${site}/new.txt`, "new\n")) });
    expect(linesOf(await diffOf(run))).toEqual([
      "added | contexts/diffed/new.txt | +new",
      "changed | contexts/diffed/style.css | -plain | +fancy",
    ]);
    expect(linesOf(await diffOf(run, "?to=turn_2/agent1.1"))).toEqual([
      "changed | contexts/diffed/style.css | -plain | +fancy",
    ]);
    await request("/api/contexts/diffed", { method: "DELETE" });
    expect(await diffOf(run)).toMatchObject({ data: [], unavailable_contexts: ["diffed"] });
  });

  it("finds no changed file in a turn that only summarises", async () => {
    await push("summed", { "index.html": "one\n" });
    const grants = [{ path: "summed", permission: "write" }];
    const run = await begin(
      steps(write("/contexts/summed/index.html", "team\n")),
      teamWith({ context_paths: grants }, ["obedient", "obedient"]),
    );
    const response = await post(`/api/sessions/${run.session_id}/compact`, {});
    await follow(await response.json());
    expect(linesOf(await diffOf(run, "?from=turn_1&to=turn_2"))).toEqual([]);
    expect(linesOf(await diffOf(run, "?to=turn_2"))).toEqual([]);
  });

  it("is a patch if the request prefers one", async () => {
    const run = await begin(steps(write("a b.txt", "one\n")));
    const json = await get(run, "", { accept: "application/json, text/x-diff;q=0.5" });
    expect(json.headers.get("content-type")).toContain("application/json");
    for (const response of [
      await get(run, "", { accept: "text/x-diff" }),
      await get(run, "?format=diff", { accept: "application/json" }),
    ]) {
      expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/x-diff"]);
      expect(response.headers.get("content-disposition")).toContain("attachment");
      expect(await response.text()).toBe(
        "diff --git a/a b.txt b/a b.txt\nnew file mode 100644\n--- /dev/null\n+++ b/a b.txt\n@@ -0,0 +1,1 @@\n+one\n",
      );
    }
  });

  it("refuses unknown references, and names those that exist", async () => {
    const run = await begin(steps(write("a.txt", "one\n")), TEAM());
    const refusal = async (query: string) => {
      const response = await get(run, query);
      return { status: response.status, body: await response.json<Record<string, unknown>>() };
    };
    expect(await refusal("?to=turn_7")).toMatchObject({
      status: 404,
      body: { code: "reference_not_found", references: ["parent", "turn_1"] },
    });
    expect(await refusal("?to=turn_1/agent9.1")).toMatchObject({
      status: 404,
      body: {
        code: "reference_not_found",
        references: expect.arrayContaining(["turn_1", "turn_1/agent1.1", "turn_1/agent2.1"]),
        detail: expect.stringContaining(
          "There is no turn_1/agent9.1 in this session. References that exist: turn_1, ",
        ),
      },
    });
    for (const query of ["?to=latest", "?to=parent", "?from=turn_1/bob", "?format=xml"])
      expect(await refusal(query)).toMatchObject({ status: 400, body: { code: "bad_query" } });
  });

  it("needs the scope `read`, and does not exist for another tenant", async () => {
    const owner = await makeKey("diff_owner", { scopes: "run" });
    const reader = await makeKey("diff_owner", { scopes: "read" });
    const other = await makeKey("diff_other", { scopes: "admin" });
    const body = { question: steps(write("a.txt", "one\n")), config: teamWith() };
    const started = await askWith(owner.key, "/api/runs", { method: "POST", body });
    const { session_id } = await started.json<Run>();
    await (await askWith(owner.key, `/api/sessions/${session_id}/turns/1/events`)).text();
    const path = `/api/sessions/${session_id}/diff?from=parent&to=turn_1`;
    expect((await askWith(reader.key, path)).status).toBe(200);
    const foreign = await askWith(other.key, path);
    expect([foreign.status, (await foreign.json<{ code: string }>()).code]).toEqual([
      404,
      "session_not_found",
    ]);
    expect((await ask(path, { headers: { authorization: "Bearer mge_x_y" } })).status).toBe(401);
  });

  it("compares 2,000 changed files in less than a second", async () => {
    const files = (first: number) =>
      steps(shell(`mkdir f && seq ${first} ${first + 9_999} | split -l 5 -a 4 - f/x`));
    const run = await begin(steps(write("a.txt", "one\n")));
    await next(run, { question: files(1) });
    await next(run, { question: files(5), parent_turn: 1 });
    const points = "?from=turn_2&to=turn_3";
    const diff = await diffOf(run, points);
    const times: number[] = [];
    for (let nth = 0; nth < 5; nth += 1) {
      const before = performance.now();
      await diffOf(run, points);
      times.push(performance.now() - before);
    }
    expect(diff.counts).toEqual({ added: 0, deleted: 0, changed: 2_000, renamed: 0 });
    expect(diff.data.every(({ hunks, added }) => hunks.length === 1 && added === 4)).toBe(true);
    // The fastest, because other tests run at the same time.
    expect(Math.min(...times)).toBeLessThan(1_000);
  });
});
