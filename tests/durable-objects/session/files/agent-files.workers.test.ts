import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { readStoredSnapshots } from "../../../../simulated/stored-snapshots";
import { follow, post, request, start } from "../session-client";
import { filed, ofType, outcomes, sqlOf, trail, withFiles } from "./file-runs";

/**
 * Agents that work on files, in whole runs. Their files are frozen with each answer, and the
 * winner's files become the result of the turn. The model names select behaviours of the simulated
 * provider.
 */

describe("agents with workspaces", () => {
  it("write files and read each other's files, and the turn's result has the winner's files", async () => {
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

  it("store a final text over 256 KiB completely in a file, and show its beginning (long final)", async () => {
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

  it("F8 cannot reach another agent's workspace or any other path, and each try is recorded", async () => {
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

  it("E15 keep the files of their earlier answer if a new answer comes from an empty workspace", async () => {
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

  it("keep the files of their earlier answer if a new answer only changes text, in every turn (A3, D1)", async () => {
    const run = await start(withFiles(["diarist", "critic"]));
    await follow(run);
    const noteOf = (turn: number) => ({ path: `note-${turn - 1}.txt` });
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
      const notes = Array.from({ length: turn }, (_, index) => noteOf(index + 1));
      const path = `/api/sessions/${run.session_id}/turns/${turn}`;
      for (const place of ["/answers/agent1.2/files", "/files"])
        expect(await (await request(`${path}${place}`)).json()).toMatchObject({ data: notes });
    }
    const rows = await sqlOf<{ round: number; body: string }>(
      run,
      "SELECT round, body FROM calls WHERE turn = 3 AND agent = 0",
    );
    const records = rows.flatMap(({ round, body }) =>
      body
        .trim()
        .split("\n")
        .map((line) => ({ round, line })),
    );
    const keptFilesNotes = records.filter(({ line }) =>
      line.includes("no file changed: earlier files stay."),
    );
    expect(keptFilesNotes.map(({ round, line }) => [round, JSON.parse(line).kind])).toEqual([
      [2, "result"], // the result of `new_answer`
      [3, "start"],
    ]);
  });

  it("return no files if they deleted all of them, and the next turn starts without files (D1)", async () => {
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
    // The simulated model writes the file only if it does not exist.
    expect(trail(third.events, "a0")).toContain("write /workspace/a.txt");
    const { prefix } = await filed(run);
    expect((await readStoredSnapshots(env.BUCKET, prefix)).problems).toEqual([]);
  });

  it("have their own snapshot for an answer if they only wrote the same bytes again (D1)", async () => {
    const run = await start(withFiles(["builder", "critic"]));
    await follow(run);
    expect(
      (await post(`/api/sessions/${run.session_id}/turns`, { question: "And now?" })).status,
    ).toBe(202);
    const { events } = await follow({ ...run, turn: 2 });
    const path = `/api/sessions/${run.session_id}/turns/2`;
    const answers = ofType(events, "answer.submitted");
    // A write is a change even if the bytes are the same, so this answer has its own snapshot.
    expect(answers.find(({ agent }) => agent === "a0")).toMatchObject({
      snapshot: "agent1.1",
      files: "workspace",
    });
    expect(await (await request(`${path}/files`)).json()).toMatchObject({
      data: [{ path: "NOTES.md" }, { path: "src/sum.sh" }],
    });
  });

  it("start the next turn with the files of the last turn", async () => {
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
