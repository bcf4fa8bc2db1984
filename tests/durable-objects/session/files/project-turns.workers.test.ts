import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { hashOf } from "../../../../src/workspace/snapshot";
import type {
  ContextConflict,
  ContextUpload,
  TurnChanges,
} from "../../../../src/protocol/api/contexts";
import type { WireEvent } from "../../../../src/protocol/events";
import { follow, post, request, type Run, start, teamOf } from "../session-client";

/** A project over several turns in whole sessions, with pushes by the user between them. */

const V1 = { "a.txt": "A", "b.txt": "B", "dist/app.js": "built" };
const hash = (text: string) => hashOf(new TextEncoder().encode(text));

/** Uploads a version and returns its id. */
async function push(contents: Record<string, string>, more: object = {}): Promise<string> {
  const files = await Promise.all(
    Object.entries(contents).map(async ([path, text]) => ({
      path,
      sha256: await hash(text),
      size: text.length,
    })),
  );
  const put = async () => {
    const headers = { "content-type": "application/json" };
    const body = JSON.stringify({ files, ...more });
    const response = await request("/api/contexts/site", { method: "PUT", headers, body });
    return response.json<ContextUpload>();
  };
  const upload = await put();
  for (const text of Object.values(contents)) {
    if (!upload.missing.includes(await hash(text))) continue;
    const path = `/api/contexts/site/blobs/${await hash(text)}?version=${upload.version}`;
    const headers = { "content-type": "application/octet-stream" };
    await request(path, { method: "PUT", headers, body: text });
  }
  return (await put()).version;
}

/** A team whose agents have no workspace by their config. */
const PLAIN = () => teamOf(["dutiful"]);
const WRITE = [{ name: "site", permission: "write" }];

/** Starts the next turn of a session. */
const next = (run: Run, question: string, more: object = {}): Promise<Response> =>
  post(`/api/sessions/${run.session_id}/turns`, { question, ...more });

/** Plays the next turn of a session to its end. */
async function play(run: Run, question: string, more: object = {}): Promise<TurnResult> {
  const response = await next(run, question, more);
  if (response.status !== 202) throw new Error(await response.text());
  return playOut(await response.json<Run>());
}

type TurnResult = Run & { events: readonly WireEvent[]; answer: string };

async function playOut(run: Run): Promise<TurnResult> {
  const { events } = await follow(run);
  const last = events.at(-1);
  if (last?.type !== "turn.completed") throw new Error(JSON.stringify(last));
  return { ...run, events, answer: last.answer };
}

const begin = async (question: string, more: object = {}): Promise<TurnResult> =>
  playOut(await start(PLAIN(), { question, contexts: WRITE, ...more }));

/** The state of the context after a turn, as `version path: text`. */
async function stateOf({ session_id, turn }: Run): Promise<string[]> {
  const changesPath = `/api/sessions/${session_id}/turns/${turn}/changes`;
  const { data } = await (await request(changesPath)).json<TurnChanges>();
  const lines = data.map(async ({ base_version, changes }) =>
    Promise.all(
      changes.map(async ({ path, hash: sha256 }) => {
        const response = sha256 && (await request(`${changesPath}/blobs/${sha256}`));
        const text = response ? await response.text() : "gone";
        return `${base_version} ${path}: ${text}`;
      }),
    ),
  );
  return (await Promise.all(lines)).flat();
}

/** Versions that a session has pinned, by turn. */
async function pinsOf({ session_id }: Run): Promise<string[]> {
  const sql =
    "SELECT DISTINCT turn, version FROM context_pins WHERE session = ? ORDER BY turn, version";
  const { results } = await env.DB.prepare(sql)
    .bind(session_id)
    .all<{ turn: number; version: string }>();
  return results.map(({ turn, version }) => `${turn}: ${version}`);
}

const startOf = ({ events }: TurnResult) => events.find(({ type }) => type === "turn.started");

describe("a project over several turns", () => {
  it("is granted by the request to a team without files, and holds in later turns", async () => {
    const version = await push(V1);
    const first = await begin("write a.txt A1\nremove b.txt");
    expect(startOf(first)).toMatchObject({
      contexts: [{ name: "site", version, permissions: { a0: "write" } }],
      grants: [{ name: "site", permission: "write" }],
      granted_workspaces: [{ agent: "a0" }],
    });
    expect(await stateOf(first)).toEqual([`${version} a.txt: A1`, `${version} b.txt: gone`]);
    const second = await play(first, "read a.txt\nwrite c.txt C");
    expect(second.answer).toContain("with files");
    expect(second.answer).toContain("A1");
    expect(await stateOf(second)).toEqual([
      `${version} a.txt: A1`,
      `${version} b.txt: gone`,
      `${version} c.txt: C`,
    ]);
    const branch = await play(first, "write d.txt D", { parent_turn: 1 });
    expect(await stateOf(branch)).not.toContain(`${version} c.txt: C`);
    await vi.waitFor(async () =>
      expect(await pinsOf(first)).toEqual([1, 2, 3].map((turn) => `${turn}: ${version}`)),
    );
  });

  it("may be granted on the second turn of a session without files", async () => {
    const version = await push(V1);
    const first = await begin("read a.txt", { contexts: undefined });
    expect(first.answer).toContain("without files");
    const second = await play(first, "read a.txt\nwrite a.txt A1", { contexts: WRITE });
    expect(second.answer).toContain("with files");
    expect(await stateOf(second)).toEqual([`${version} a.txt: A1`]);
    const third = await play(second, "read a.txt", { contexts: [] });
    expect(third.answer).toContain("without files");
    expect(startOf(third)).not.toHaveProperty("contexts");
    const fourth = await play(third, "read a.txt", { contexts: [{ name: "site" }] });
    expect(fourth.answer).toContain("A1");
    expect(startOf(fourth)).toMatchObject({ contexts: [{ permissions: { a0: "read" } }] });
    expect(await stateOf(fourth)).toEqual([`${version} a.txt: A1`]);
  });

  it("is refused if the request names a context that is not uploaded", async () => {
    const response = await post("/api/runs", {
      ...{ question: "?", config: PLAIN(), contexts: [{ name: "nowhere" }] },
    });
    expect([response.status, await response.json()]).toMatchObject([
      422,
      { code: "context_missing", contexts: ["nowhere"] },
    ]);
  });

  it("merges what the user pushed, also after a pull, and keeps left-out paths", async () => {
    const first = await push(V1);
    const one = await begin("write a.txt A1");
    const second = await push({ ...V1, "b.txt": "mine" });
    const two = await play(one, "read b.txt");
    expect(two.answer).toContain("mine");
    expect(await stateOf(two)).toEqual([`${second} a.txt: A1`]);
    // The user pulls turn 2, edits the pulled file, and does not send the built file.
    const includes = [{ session: one.session_id, turn: 2, left_out: ["dist/app.js"] }];
    const third = await push({ "a.txt": "A1 mine", "b.txt": "mine" }, { includes });
    const three = await play(two, "read a.txt\nread dist/app.js\nwrite b.txt B3");
    expect(three.answer).toContain("A1 mine");
    expect(three.answer).toContain("built");
    expect(await stateOf(three)).toEqual([`${third} b.txt: B3`, `${third} dist/app.js: built`]);
    await vi.waitFor(async () =>
      expect(await pinsOf(one)).toEqual([
        ...[`1: ${first}`, `2: ${second}`],
        ...[`3: ${second}`, `3: ${third}`],
      ]),
    );
  });
});

describe("a file that both sides changed", () => {
  const problemOf = async (response: Response) => ({
    status: response.status,
    ...(await response.json<{ code: string; conflicts: ContextConflict[] }>()),
  });

  it("refuses the turn with both hashes, before anything is reserved", async () => {
    await push(V1);
    const run = await begin("write a.txt A1");
    await push({ ...V1, "a.txt": "mine" });
    expect(await problemOf(await next(run, "read a.txt"))).toMatchObject({
      ...{ status: 409, code: "context_conflicts" },
      conflicts: [
        { context: "site", path: "a.txt", turn: await hash("A1"), upload: await hash("mine") },
      ],
    });
    expect((await request(`/api/sessions/${run.session_id}/turns/2`)).status).toBe(404);
    await vi.waitFor(async () => expect(await pinsOf(run)).toHaveLength(1));
  });

  it.each([
    { winner: "turn", text: "A1" },
    { winner: "upload", text: "mine" },
  ])("takes the side that the request names: $winner", async ({ winner, text }) => {
    await push(V1);
    const run = await begin("write a.txt A1");
    await push({ ...V1, "a.txt": "mine" });
    const second = await play(run, "read a.txt", { context_conflicts: winner });
    expect(second.answer).toContain(text);
  });

  it("has no conflict if the user pushes twice after a pull and ignores a file between", async () => {
    await push(V1);
    const one = await begin("write a.txt A1");
    const record = (left_out: string[]) => ({
      includes: [{ session: one.session_id, turn: 1, ...(left_out.length > 0 && { left_out }) }],
    });
    await push({ ...V1, "a.txt": "A1", "b.txt": "mine" }, record([]));
    const two = await play(one, "read b.txt\nwrite c.txt C");
    const { "dist/app.js": _, ...kept } = V1;
    const third = await push(
      { ...kept, "a.txt": "A1", "b.txt": "mine 2" },
      record(["dist/app.js"]),
    );
    const three = await play(two, "read b.txt\nread dist/app.js");
    expect(three.answer).toContain("mine 2");
    expect(await stateOf(three)).toEqual([`${third} c.txt: C`, `${third} dist/app.js: built`]);
    await push({ ...V1, "a.txt": "A1", "b.txt": "mine 2", "c.txt": "C" }, record([]));
    expect((await play(three, "read dist/app.js")).answer).toContain("built");
  });
});
