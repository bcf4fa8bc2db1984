import { describe, expect, it } from "vitest";
import { writeNote } from "../../../cli/contexts/note";
import { sessionPath, turnChangesPath } from "../../../src/protocol/paths";
import { SESSION } from "../../protocol/builders";
import { runAt } from "../commands/terminal";
import { Service } from "../service";
import { type Answers, versionOf, withTurn } from "./offered";
import { OF_TURN, PullFolder } from "./pull-folder";

/** Which context and which turn a pull takes. */

const folder = new PullFolder();
const json = (body: unknown) => ({ status: 200, type: "application/json", body });

describe("a pull of a turn into a folder that is linked to another context", () => {
  const pull = async (...args: string[]) => {
    const answers = withTurn({ "a.txt": "a" }, { "a.txt": "a1", "b.txt": "b" });
    await using service = await Service.start({ events: [], answers });
    await writeNote(folder.root, { server: service.url, name: "docs", version: versionOf(0) });
    return await runAt({ cwd: folder.root }, "pull", "--server", service.url, ...OF_TURN, ...args);
  };

  it.each([{ args: ["--apply"] }, { args: [] }])(
    "is refused without --name: $args",
    async ({ args }) => {
      await expect(pull(...args)).rejects.toThrow(
        "This folder is linked to docs, and turn 1 has the contexts site. Choose one with --name.",
      );
      expect(await folder.files()).toEqual({});
    },
  );

  it.each([
    { args: ["--apply"], files: { "a.txt": "a1", "b.txt": "b" } },
    { args: [], files: {} },
  ])("takes the context that --name names: $args", async ({ args, files }) => {
    await pull("--name", "site", ...args);
    expect(await folder.files()).toEqual(files);
  });
});

describe("a turn that only summarised the conversation", () => {
  const turns = [
    { turn: 1, status: "completed", parent_turn: null },
    { turn: 2, kind: "compact", status: "completed", parent_turn: 1 },
  ];
  const answers: Answers = {
    ...withTurn({ "a.txt": "a" }, { "a.txt": "a1" }),
    [turnChangesPath(SESSION, 2)]: json({ object: "list", data: [] }),
    [sessionPath(SESSION)]: json({ turns }),
  };

  it("is not the latest turn of a pull", async () => {
    await folder.pull(answers, "--session", SESSION, "--apply");
    expect(await folder.files()).toEqual({ "a.txt": "a1" });
  });

  it("has no changes, and the message names the turn before it", async () => {
    const pulled = folder.pull(answers, "--session", SESSION, "--turn", "2");
    await expect(pulled).rejects.toThrow("It continues turn 1, which completed: add --turn 1.");
  });
});

describe("a pull of a turn without a result", () => {
  const turns = (...statuses: string[]) =>
    statuses.map((status, index) => ({ turn: index + 1, status, parent_turn: index || null }));
  const answersOf = (...statuses: string[]): Answers => ({
    [turnChangesPath(SESSION, statuses.length)]: json({ object: "list", data: [] }),
    [sessionPath(SESSION)]: json({ turns: turns(...statuses) }),
  });

  it.each([
    { statuses: ["completed", "completed", "failed"], hint: "add --turn 2" },
    { statuses: ["completed", "failed", "cancelled", "running"], hint: "add --turn 1" },
  ])("names the latest completed turn that it continues: $statuses", async ({ statuses, hint }) => {
    const pulled = folder.pull(answersOf(...statuses), "--session", SESSION);
    await expect(pulled).rejects.toThrow(hint);
    await expect(folder.pull(answersOf(...statuses), "--session", SESSION)).rejects.toThrow(
      `Turn ${statuses.length} changed no context`,
    );
  });

  it.each([[["failed"]], [["completed", "completed"]]])(
    "names no other turn if there is none, or if the turn completed: %j",
    async (statuses) => {
      const pulled = folder.pull(answersOf(...statuses), "--session", SESSION);
      await expect(pulled).rejects.toThrow(/^(?!.*--turn)/s);
    },
  );

  it("ends also if the service answers that two turns continue each other", async () => {
    const cycle = [
      { turn: 1, status: "failed", parent_turn: 2 },
      { turn: 2, status: "failed", parent_turn: 1 },
    ];
    const answers = {
      ...answersOf("failed", "failed"),
      [sessionPath(SESSION)]: json({ turns: cycle }),
    };
    const pulled = folder.pull(answers, "--session", SESSION, "--turn", "2");
    await expect(pulled).rejects.toThrow(/changed no context(?!.*--turn)/s);
  });
});
