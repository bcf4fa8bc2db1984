import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, inject, it, vi } from "vitest";
import { sessionPrefix } from "../../../../r2-layout/session-files";
import type { WireEvent } from "../../../../src/protocol/events";
import type { SessionFiles } from "../../../../src/protocol/files";
import { LOCAL_TENANT } from "../../../../src/tenancy/principal";
import { sessionName } from "../../../../src/tenancy/session-name";
import { readStoredSnapshots } from "../../../../simulated/stored-snapshots";
import { follow, post, type Run, request, start, teamOf } from "../session-client";

/** Agents that work on files, in whole runs: what they write is theirs, is frozen with their answers, and is the turn's result. */

const ofType = <T extends WireEvent["type"]>(events: readonly WireEvent[], type: T) =>
  events.filter((event): event is Extract<WireEvent, { type: T }> => event.type === type);

/** A team whose agents have workspaces. */
function withFiles(models: readonly string[], more: object = {}): Record<string, unknown> {
  const team = teamOf(models);
  const agents = (team["agents"] as { backend: object }[]).map((agent) => ({
    ...agent,
    backend: { ...agent.backend, cwd: "work", enable_mcp_command_line: true, ...more },
  }));
  return {
    ...team,
    agents,
    orchestrator: { snapshot_storage: "s", agent_temporary_workspace: "t" },
  };
}

const trail = (events: readonly WireEvent[], agent: string) =>
  ofType(events, "files.accessed")
    .filter((event) => event.agent === agent)
    .flatMap(({ accesses }) =>
      accesses.map(
        ({ operation, path, refused }) => `${operation} ${path}${refused ? ` ${refused}` : ""}`,
      ),
    );

const outcomes = (events: readonly WireEvent[]) =>
  ofType(events, "tool.completed").map(({ agent, name, outcome }) => `${agent} ${name} ${outcome}`);

const sqlOf = <Row extends Record<string, SqlStorageValue>>(
  { session_id }: Run,
  query: string,
): Promise<Row[]> => {
  const object = env.SESSIONS.get(
    env.SESSIONS.idFromName(sessionName(null, LOCAL_TENANT, session_id)),
  );
  return runInDurableObject(object, (_, { storage }) => storage.sql.exec<Row>(query).toArray());
};

/** Waits until everything of a session's files is where it belongs; gives its part of R2. */
async function filed(run: Run): Promise<{ prefix: string; keys: () => Promise<string[]> }> {
  await vi.waitFor(
    async () => expect(await sqlOf(run, "SELECT body FROM file_duties")).toEqual([]),
    10_000,
  );
  const prefix = sessionPrefix(LOCAL_TENANT, run.session_id);
  const keys = async () =>
    (await env.BUCKET.list({ prefix })).objects.map(({ key }) => key.slice(prefix.length));
  return { prefix, keys };
}

/** A tree as the API lists it, in the words of `readStoredSnapshots`. */
async function listing(path: string): Promise<Record<string, string>> {
  const { data } = await (await request(path)).json<SessionFiles>();
  return Object.fromEntries(
    data.map(({ path: file, sha256, size }) => [file, `${sha256} ${size}`]),
  );
}

describe("agents with workspaces", () => {
  it("write, look at each other's files, and hand over the winner's", async () => {
    const run = await start(withFiles(["builder", "critic"]));
    const { events } = await follow(run);
    expect(events.at(-1)).toMatchObject({ type: "turn.completed" });
    expect(outcomes(events)).toContain("a0 write_file ok");
    expect(outcomes(events).filter((outcome) => !outcome.endsWith("ok"))).toEqual([]);
    expect(trail(events, "a0")).toContain("write /workspace/src/sum.sh");
    expect(
      trail(events, "a1").some((line) => /^read \/peers\/agent[12]\/src\/sum\.sh$/.test(line)),
    ).toBe(true);
    const [answer] = ofType(events, "answer.submitted").filter(({ agent }) => agent === "a0");
    expect(answer?.snapshot).toBe(answer?.label);
    const files = await request(`/api/sessions/${run.session_id}/turns/1/files`);
    expect(await files.json()).toMatchObject({
      data: [{ path: "NOTES.md" }, { path: "src/sum.sh" }],
    });
    const file = await request(`/api/sessions/${run.session_id}/turns/1/files/src/sum.sh`);
    expect(await file.text()).toBe("echo $((6 * 7))\n");
    expect(file.headers.get("content-disposition")).toContain("attachment");
    expect(file.headers.get("x-content-type-options")).toBe("nosniff");
  });

  it("keep a final text of over 256 KiB whole in a file, and show its beginning (long final)", async () => {
    const run = await start(withFiles(["novelist", "novelist"]));
    const { events } = await follow(run);
    const end = events.at(-1);
    const [final] = ofType(events, "presentation.completed");
    expect(final).toMatchObject({
      source: "presentation",
      fallback: null,
      snapshot: final?.label,
      text_file: "final-2.txt",
    });
    expect(end).toMatchObject({ type: "turn.completed", answer: final?.content });
    expect(final?.content).toMatch(/^It is 42\. A word .*is in the file final-2\.txt\.\]$/s);
    await filed(run);
    const file = await request(`/api/sessions/${run.session_id}/turns/1/files/final-2.txt`);
    expect(await file.text()).toMatch(/^It is 42\. (A word of the story\. ){13500}The end\.$/);
  });

  it("F8 reach neither another agent's workspace nor anything else, and every try is on record", async () => {
    const { events } = await follow(await start(withFiles(["burglar", "critic"])));
    expect(events.at(-1)).toMatchObject({ type: "turn.completed" });
    expect(trail(events, "a0")).toEqual([
      "read ../a1/src/other.txt path_outside",
      "read /peers/a1/src/other.txt unknown_place",
      "read /etc/passwd path_outside",
      "list /peers/agent2/src/other.txt unknown_place",
      "write /peers/agent2/src/other.txt unknown_place",
      "list /workspace",
      "list /peers/agent1/a unknown_place",
      "write /peers/agent1/a unknown_place",
    ]);
  });

  it("E15 keep the files of their earlier answer with one that they give without any", async () => {
    const run = await start(withFiles(["refiner", "critic"]));
    const { events } = await follow(run);
    expect(events.at(-1)).toMatchObject({ type: "turn.completed" });
    const answers = ofType(events, "answer.submitted").filter(({ agent }) => agent === "a0");
    expect(answers.map(({ label, snapshot }) => [label, snapshot])).toEqual([
      ["agent1.1", "agent1.1"],
      ["agent1.2", "agent1.1"],
    ]);
    const path = `/api/sessions/${run.session_id}/turns/1/answers/agent1.2`;
    const answer = await (await request(path)).json<{ files: string }>();
    expect(answer).toMatchObject({ label: "agent1.2", files: `${path}/files?attempt=1` });
    const files = await request(answer.files);
    expect(await files.json()).toMatchObject({
      label: "agent1.2",
      files: 1,
      data: [{ path: "src/sum.sh" }],
    });
    expect(await (await request(`${path}/files/src/sum.sh`)).text()).toBe("echo $((6 * 7))\n");
  });

  it("keep the files of their earlier answer with one that changes text only, in every turn (A3, D1)", async () => {
    const run = await start(withFiles(["diarist", "critic"]));
    await follow(run);
    const note = (turn: number) => ({ path: `note-${turn - 1}.txt` });
    for (const turn of [2, 3]) {
      expect(
        (await post(`/api/sessions/${run.session_id}/turns`, { question: "And now?" })).status,
      ).toBe(202);
      const { events } = await follow({ ...run, turn });
      expect(events.at(-1)).toMatchObject({ type: "turn.completed", winner: "a0" });
      const answers = ofType(events, "answer.submitted").filter(({ agent }) => agent === "a0");
      expect(answers).toMatchObject([
        { label: "agent1.1", snapshot: "agent1.1", files: "workspace" },
        { label: "agent1.2", snapshot: "agent1.1", files: "kept" },
      ]);
      const notes = Array.from({ length: turn }, (_, nth) => note(nth + 1));
      const path = `/api/sessions/${run.session_id}/turns/${turn}`;
      for (const place of ["/answers/agent1.2/files", "/files"])
        expect(await (await request(`${path}${place}`)).json()).toMatchObject({ data: notes });
    }
    const told = await sqlOf<{ round: number; body: string }>(
      run,
      "SELECT round, body FROM calls WHERE turn = 3 AND agent = 0",
    );
    const records = told.flatMap(({ round, body }) =>
      body
        .trim()
        .split("\n")
        .map((line) => ({ round, line })),
    );
    const kept = records.filter(({ line }) =>
      line.includes("no file changed: earlier files stay."),
    );
    expect(kept.map(({ round, line }) => [round, JSON.parse(line).kind])).toEqual([
      [2, "result"], // of `new_answer`
      [3, "start"],
    ]);
  });

  it("hand over nothing where the round itself deleted all: so does the result, and the next turn begins with none (D1)", async () => {
    const run = await start(withFiles(["waster", "keeper"]));
    await follow(run);
    expect(
      (await post(`/api/sessions/${run.session_id}/turns`, { question: "And now?" })).status,
    ).toBe(202);
    const { events } = await follow({ ...run, turn: 2 });
    expect(events.at(-1)).toMatchObject({ type: "turn.completed", winner: "a0" });
    expect(trail(events, "a0")).toContain("delete /workspace/a.txt");
    const [answer] = ofType(events, "answer.submitted").filter(({ agent }) => agent === "a0");
    expect(answer).toMatchObject({
      label: "agent1.1",
      snapshot: "agent1.1",
      files: "workspace_cleared",
    });
    const path = `/api/sessions/${run.session_id}/turns`;
    for (const place of ["2/files", "2/answers/agent1.1/files"])
      expect(await (await request(`${path}/${place}`)).json()).toMatchObject({
        files: 0,
        data: [],
      });
    expect((await post(path, { question: "And now?" })).status).toBe(202);
    const third = await follow({ ...run, turn: 3 });
    expect(trail(third.events, "a0")).toContain("write /workspace/a.txt"); // it only writes where there is no such file
    const { prefix } = await filed(run);
    expect((await readStoredSnapshots(env.BUCKET, prefix)).problems).toEqual([]);
  });

  it("have files of their own with an answer where they only wrote the same bytes again (D1)", async () => {
    const run = await start(withFiles(["builder", "critic"]));
    await follow(run);
    expect(
      (await post(`/api/sessions/${run.session_id}/turns`, { question: "And now?" })).status,
    ).toBe(202);
    const { events } = await follow({ ...run, turn: 2 });
    const path = `/api/sessions/${run.session_id}/turns/2`;
    const answers = ofType(events, "answer.submitted");
    // The same bytes again are a change, so this answer has its own files.
    expect(answers.find(({ agent }) => agent === "a0")).toMatchObject({
      snapshot: "agent1.1",
      files: "workspace",
    });
    expect(await (await request(`${path}/files`)).json()).toMatchObject({
      data: [{ path: "NOTES.md" }, { path: "src/sum.sh" }],
    });
  });

  it("I10 have the snapshots of all their answers in R2, as the API lists them, and only the result at hand", async () => {
    const run = await start(withFiles(["refiner", "critic"]));
    const { events } = await follow(run);
    const { prefix, keys } = await filed(run);
    const turn = `/api/sessions/${run.session_id}/turns/1`;
    const labels = ofType(events, "answer.submitted").flatMap(({ label, snapshot }) =>
      snapshot === label ? [label] : [],
    );
    const { winner } = ofType(events, "turn.completed")[0] ?? {};
    expect([winner, labels.toSorted()]).toEqual(["a0", ["agent1.1", "agent2.1"]]);
    const trees = Object.fromEntries(
      await Promise.all(
        labels.map(
          async (label) =>
            [`1/1/${label}`, await listing(`${turn}/answers/${label}/files`)] as const,
        ),
      ),
    );
    const result = await listing(`${turn}/files`);
    expect(await readStoredSnapshots(env.BUCKET, prefix)).toEqual({
      trees: { ...trees, "1/1/agent1.final": result },
      problems: [],
    });
    expect((await keys()).filter((key) => key.startsWith("blobs/"))).toHaveLength(2); // each of them alone in its snapshot
    const atHand = await sqlOf<{ text: string }>(
      run,
      "SELECT CAST(bytes AS TEXT) AS text FROM blobs",
    );
    expect(atHand).toEqual([{ text: "echo $((6 * 7))\n" }]);
    const loser = await request(`${turn}/answers/agent2.1/files/src/other.txt`);
    expect(await loser.text()).toBe("forty-two");
    const zip = await request(`${turn}/answers/agent2.1/archive.zip`);
    expect(new TextDecoder("latin1").decode(await zip.arrayBuffer())).toContain("forty-two");
  });

  it("may make a call again whose files were too large for a row, and were not taken by R2", async () => {
    const bucket = Object.getPrototypeOf(env.BUCKET);
    const { put } = bucket;
    let refusals = 1;
    const away = vi.spyOn(bucket, "put").mockImplementation(function (
      this: unknown,
      ...args: unknown[]
    ) {
      const [, contents] = args;
      if (contents instanceof Uint8Array && contents.byteLength > 1_000_000 && refusals-- > 0) {
        return Promise.reject(new Error("put: We encountered an internal error."));
      }
      return Reflect.apply(put, this, args);
    });
    const run = await start(withFiles(["hoarder", "critic"]));
    const { events } = await follow(run);
    away.mockRestore();
    expect(outcomes(events).filter((outcome) => outcome.startsWith("a0"))).toEqual([
      "a0 run_command error",
      "a0 run_command ok",
    ]);
    expect(trail(events, "a0")).toEqual(
      expect.arrayContaining(["write /workspace/heap not_kept", "write /workspace/heap"]),
    );
    expect(events.at(-1)).toMatchObject({ type: "turn.completed", winner: "a0" });
    const { prefix } = await filed(run);
    const heap = await request(`/api/sessions/${run.session_id}/turns/1/files/heap`);
    const expected = Array.from({ length: 9_000 }, (_, nth) => `${nth + 1}\n`)
      .join("")
      .repeat(28);
    expect((await heap.text()) === expected).toBe(true);
    expect(await sqlOf(run, "SELECT hash FROM blobs")).toEqual([]);
    expect((await readStoredSnapshots(env.BUCKET, prefix)).problems).toEqual([]);
  });

  it("have a file that R2 does not give just now answered as one to be asked for again", async () => {
    const run = await start(withFiles(["refiner", "critic"]));
    await follow(run);
    await filed(run);
    const path = `/api/sessions/${run.session_id}/turns/1/answers/agent2.1/files/src/other.txt`;
    const away = vi
      .spyOn(Object.getPrototypeOf(env.BUCKET), "get")
      .mockRejectedValueOnce(new Error("get: We encountered an internal error."));
    const refused = await request(path);
    expect([refused.status, (await refused.json<{ code: string }>()).code]).toEqual([
      503,
      "interrupted",
    ]);
    expect(refused.headers.get("retry-after")).toBe("1");
    away.mockRestore();
    expect(await (await request(path)).text()).toBe("forty-two");
  });

  it("go on from files that lie in R2 only, where a turn goes on from an older one", async () => {
    const run = await start(withFiles(["builder", "critic"]));
    await follow(run);
    await post(`/api/sessions/${run.session_id}/turns`, { question: "And seven times eight?" });
    await follow({ ...run, turn: 2 });
    await filed(run);
    const object = env.SESSIONS.get(
      env.SESSIONS.idFromName(sessionName(null, LOCAL_TENANT, run.session_id)),
    );
    await runInDurableObject(object, (_, { storage }) => storage.sql.exec("DELETE FROM blobs"));
    const third = await post(`/api/sessions/${run.session_id}/turns`, {
      question: "And again?",
      parent_turn: 1,
    });
    expect(third.status).toBe(202);
    const { events } = await follow({ ...run, turn: 3 });
    expect(events.at(-1)).toMatchObject({ type: "turn.completed" });
    expect(outcomes(events).filter((outcome) => !outcome.endsWith("ok"))).toEqual([]);
    expect(
      trail(events, "a1").some((line) => /^read \/peers\/agent[12]\/src\/sum\.sh$/.test(line)),
    ).toBe(true);
    const { prefix } = await filed(run);
    expect((await readStoredSnapshots(env.BUCKET, prefix)).problems).toEqual([]);
  });

  it("have results that are too large for the conversation as files of their own, and whole in R2", async () => {
    const run = await start(withFiles(["printer", "critic"], { tool_result_max_tokens: 1_000 }));
    const { events } = await follow(run);
    expect(events.at(-1)).toMatchObject({ type: "turn.completed" });
    const { prefix, keys } = await filed(run);
    const results = (await keys()).filter((key) => key.startsWith("tool-results/"));
    expect(results).toEqual([
      expect.stringMatching(
        /^tool-results\/1\/1\/agent1\/1\/run_command_\d{8}T\d{6}Z_[\w-]+\.txt$/,
      ),
    ]);
    const whole = await (await env.BUCKET.get(prefix + results[0]))?.text();
    expect(whole).toContain(Array.from({ length: 3_000 }, (_, nth) => nth + 1).join("\n"));
    expect(
      trail(events, "a0").some((line) =>
        line.startsWith("write /workspace/.tool_results/run_command_"),
      ),
    ).toBe(true);
    expect(await listing(`/api/sessions/${run.session_id}/turns/1/answers/agent1.1/files`)).toEqual(
      {},
    );
  });

  it("page through such a result where they have no files, and through nothing else (D12)", async () => {
    const team = teamOf(["scholar", "quick"]);
    const url = `${inject("rudeProvidersUrl")}/pages/200000`;
    const look = { name: "look_up", description: "Looks it up.", url, method: "GET" };
    const agents = (team["agents"] as { backend: object }[]).map((agent) => ({
      ...agent,
      backend: { ...agent.backend, custom_tools: [look] },
    }));
    const run = await start({ ...team, agents });
    const { events } = await follow(run);
    expect(events.at(-1)).toMatchObject({ type: "turn.completed" });
    expect(outcomes(events).filter((outcome) => outcome.startsWith("a0"))).toEqual([
      "a0 look_up ok",
      "a0 read_tool_result ok",
      "a0 look_up ok",
      "a0 read_tool_result error",
    ]);
    const bodies = await sqlOf<{ body: string }>(
      run,
      "SELECT body FROM calls WHERE agent = 0 AND round = 1",
    );
    const told = bodies.map(({ body }) => body).join("\n");
    expect(told).toMatch(
      /Read on with read_tool_result \(path: \\"\.tool_results\/look_up_[\w-]+\.txt\\", start_char: \d+\)/,
    );
    expect(told).toContain("pppppppppp\\n[Characters 199990 to 200000 of 200000.]");
    expect(told).toContain("is outside of your files");
    const { prefix, keys } = await filed(run);
    const names = (await keys()).filter((key) =>
      key.startsWith("tool-results/1/1/agent1/1/look_up_"),
    );
    expect(names).toHaveLength(2);
    expect(
      (await (await env.BUCKET.get(`${prefix}${names[0]}`))?.text()) === "p".repeat(200_000),
    ).toBe(true);
    expect(ofType(events, "answer.submitted").map(({ snapshot }) => snapshot)).toEqual([
      null,
      null,
    ]);
    expect(await sqlOf(run, "SELECT hash FROM blobs")).toEqual([]); // after the turn nothing of it stays at hand
  });

  it("leave nothing in R2 when their session is erased while files are brought there", async () => {
    const bucket = Object.getPrototypeOf(env.BUCKET);
    const { put } = bucket;
    let isSeen = false;
    const slow = vi.spyOn(bucket, "put").mockImplementation(async function (
      this: unknown,
      ...args: unknown[]
    ) {
      do await new Promise((resolve) => setTimeout(resolve, 400));
      while (!isSeen); // none is there before it was seen that some are on their way
      return Reflect.apply(put, this, args);
    });
    const run = await start(withFiles(["builder", "critic"]));
    try {
      await follow(run);
      expect(await sqlOf(run, "SELECT id FROM file_duties")).not.toEqual([]);
      isSeen = true;
      expect((await request(`/api/sessions/${run.session_id}`, { method: "DELETE" })).status).toBe(
        204,
      );
      await new Promise((resolve) => setTimeout(resolve, 1_000));
    } finally {
      isSeen = true;
      slow.mockRestore();
    }
    expect(
      (await env.BUCKET.list({ prefix: sessionPrefix(LOCAL_TENANT, run.session_id) })).objects,
    ).toEqual([]);
  });

  it("begin the next turn with the files of the last", async () => {
    const first = await start(withFiles(["builder", "critic"]));
    await follow(first);
    const response = await request(`/api/sessions/${first.session_id}/turns`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ question: "And seven times eight?" }),
    });
    expect(response.status).toBe(202);
    const { events } = await follow({ session_id: first.session_id, turn: 2 });
    expect(events.at(-1)).toMatchObject({ type: "turn.completed" });
    const files = await request(`/api/sessions/${first.session_id}/turns/2/files`);
    expect(await files.json()).toMatchObject({
      data: [{ path: "NOTES.md" }, { path: "src/sum.sh" }],
    });
  });
});
