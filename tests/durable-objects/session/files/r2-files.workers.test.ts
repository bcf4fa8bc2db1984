import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, inject, it, vi } from "vitest";
import { sessionPrefix } from "../../../../r2-layout/session-files";
import { LOCAL_TENANT, sessionName } from "../../../../src/tenancy/principal";
import { readStoredSnapshots } from "../../../../simulated/stored-snapshots";
import { follow, post, request, start, teamOf } from "../session-client";
import { filed, listing, ofType, outcomes, sqlOf, trail, withFiles } from "./file-runs";

/**
 * The files of whole runs in R2: snapshots, large files and large results, also when R2 fails.
 */

describe("agents with workspaces", () => {
  it("I10 have the files of all answers in R2, and only the files of the result in the session's storage", async () => {
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
    // Each of the two answers has one new file, which is therefore a separate object.
    expect((await keys()).filter((key) => key.startsWith("blobs/"))).toHaveLength(2);
    const workingCopies = await sqlOf<{ text: string }>(
      run,
      "SELECT CAST(bytes AS TEXT) AS text FROM blobs",
    );
    expect(workingCopies).toEqual([{ text: "echo $((6 * 7))\n" }]);
    const loser = await request(`${turn}/answers/agent2.1/files/src/other.txt`);
    expect(await loser.text()).toBe("forty-two");
    const zip = await request(`${turn}/answers/agent2.1/archive.zip`);
    expect(new TextDecoder("latin1").decode(await zip.arrayBuffer())).toContain("forty-two");
  });

  it("may repeat a call if R2 rejected its large files", async () => {
    const bucket = Object.getPrototypeOf(env.BUCKET);
    const { put } = bucket;
    let failuresLeft = 1;
    const putSpy = vi.spyOn(bucket, "put").mockImplementation(function (
      this: unknown,
      ...args: unknown[]
    ) {
      const [, contents] = args;
      if (contents instanceof ReadableStream && failuresLeft-- > 0) {
        return Promise.reject(new Error("put: We encountered an internal error."));
      }
      return Reflect.apply(put, this, args);
    });
    const run = await start(withFiles(["hoarder", "critic"]));
    const { events } = await follow(run);
    putSpy.mockRestore();
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

  it("have files that clients can request again after R2 failed", async () => {
    const run = await start(withFiles(["refiner", "critic"]));
    await follow(run);
    await filed(run);
    const path = `/api/sessions/${run.session_id}/turns/1/answers/agent2.1/files/src/other.txt`;
    const getSpy = vi
      .spyOn(Object.getPrototypeOf(env.BUCKET), "get")
      .mockRejectedValueOnce(new Error("get: We encountered an internal error."));
    const refused = await request(path);
    expect([refused.status, (await refused.json<{ code: string }>()).code]).toEqual([
      503,
      "interrupted",
    ]);
    expect(refused.headers.get("retry-after")).toBe("1");
    getSpy.mockRestore();
    expect(await (await request(path)).text()).toBe("forty-two");
  });

  it("read files that are only in R2 if a turn continues an older turn", async () => {
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

  it("get results that are too large for the conversation as files, which are complete in R2", async () => {
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

  it("can read such a result page by page without a workspace, but no other file (D12)", async () => {
    const team = teamOf(["scholar", "quick"]);
    const url = `${inject("hostileHeadersUrl")}/pages/200000`;
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
    const records = bodies.map(({ body }) => body).join("\n");
    expect(records).toMatch(
      /Read on with read_tool_result \(path: \\"\.tool_results\/look_up_[\w-]+\.txt\\", start_char: \d+\)/,
    );
    expect(records).toContain("pppppppppp\\n[Characters 199990 to 200000 of 200000.]");
    expect(records).toContain("is outside of your files");
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
    // After the turn, the session's storage has no copy.
    expect(await sqlOf(run, "SELECT hash FROM blobs")).toEqual([]);
  });

  it("have no files left in R2 after their session was erased during an upload", async () => {
    const bucket = Object.getPrototypeOf(env.BUCKET);
    const { put } = bucket;
    let mayUpload = false;
    const putSpy = vi.spyOn(bucket, "put").mockImplementation(async function (
      this: unknown,
      ...args: unknown[]
    ) {
      do await new Promise((resolve) => setTimeout(resolve, 400));
      while (!mayUpload);
      return Reflect.apply(put, this, args);
    });
    const run = await start(withFiles(["builder", "critic"]));
    try {
      await follow(run);
      expect(await sqlOf(run, "SELECT id FROM file_duties")).not.toEqual([]);
      mayUpload = true;
      expect((await request(`/api/sessions/${run.session_id}`, { method: "DELETE" })).status).toBe(
        204,
      );
      await new Promise((resolve) => setTimeout(resolve, 1_000));
    } finally {
      mayUpload = true;
      putSpy.mockRestore();
    }
    expect(
      (await env.BUCKET.list({ prefix: sessionPrefix(LOCAL_TENANT, run.session_id) })).objects,
    ).toEqual([]);
  });
});
