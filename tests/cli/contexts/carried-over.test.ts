import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ContractService, hashOfText } from "./contract-service";
import { LinkedFolder } from "./linked-folder";

/** A project that carries over from turn to turn, by push and pull, with the service's merge. */

const S = "session_01jdtest0000000000000000";
let service: ContractService;
let folder: LinkedFolder;

beforeEach(async () => {
  service = await new ContractService().start();
  folder = await LinkedFolder.create(service.url);
  await folder.edit({ "a.txt": "a", "b.txt": "b", "c.txt": "c" });
  await folder.push();
});
afterEach(async () => {
  await folder[Symbol.asyncDispose]();
  await service[Symbol.asyncDispose]();
});

type Changes = Readonly<Record<string, string | null>>;
/** A turn that makes these changes. Throws if the service reports conflicts. */
function turn(parent: number | null, changes: Changes): void {
  expect(ask(parent, changes)).toEqual([]);
}
const ask = (parent: number | null, changes: Changes, winner?: "turn" | "upload") =>
  service
    .ask(S, {
      parent,
      ...(winner === undefined ? {} : { winner }),
      work: (tree) => {
        for (const [path, text] of Object.entries(changes))
          if (text === null) tree.delete(path);
          else tree.set(path, hashOfText(text));
      },
    })
    .map(({ path }) => path);

describe("pull of the next turn", () => {
  it("writes what the turn changed, also in a file that the previous turn changed", async () => {
    turn(null, { "a.txt": "a1" });
    await folder.pull(S, 1, "--apply");
    turn(1, { "a.txt": "a2", "d.txt": "d2" });
    const second = await folder.pull(S, 2, "--apply");
    expect([second.code, second.stdout]).toEqual([0, "write\ta.txt\nwrite\td.txt\n"]);
    expect(await folder.files()).toEqual({
      "a.txt": "a2",
      "b.txt": "b",
      "c.txt": "c",
      "d.txt": "d2",
    });
  });

  it("ends the same without a pull between the turns", async () => {
    turn(null, { "a.txt": "a1", "b.txt": null });
    turn(1, { "a.txt": "a2", "d.txt": "d2" });
    await folder.pull(S, 2, "--apply");
    expect(await folder.files()).toEqual({ "a.txt": "a2", "c.txt": "c", "d.txt": "d2" });
  });

  it("writes over a file that the user changed and pushed before the turn", async () => {
    turn(null, { "a.txt": "a1" });
    await folder.pull(S, 1, "--apply");
    await folder.edit({ "a.txt": "mine", "b.txt": "mine" });
    await folder.push();
    turn(1, { "a.txt": "a2" });
    const second = await folder.pull(S, 2, "--apply");
    expect([second.code, second.stdout]).toEqual([0, "write\ta.txt\n"]);
    expect(await folder.files()).toEqual({ "a.txt": "a2", "b.txt": "mine", "c.txt": "c" });
  });

  it("keeps a change that the user undid, although the turn before had made it", async () => {
    turn(null, { "a.txt": "a1", "b.txt": "b1" });
    await folder.pull(S, 1, "--apply");
    await folder.edit({ "a.txt": "a" });
    turn(1, { "b.txt": "b2" });
    await folder.pull(S, 2, "--apply");
    expect(await folder.files()).toEqual({ "a.txt": "a", "b.txt": "b2", "c.txt": "c" });
  });

  it("of a turn that began before the last push is compared with the version of that turn", async () => {
    turn(null, { "a.txt": "a1" });
    await folder.pull(S, 1, "--apply");
    await folder.edit({ "b.txt": "mine" });
    await folder.push();
    turn(1, { "b.txt": "b2" });
    await folder.edit({ "c.txt": "mine" });
    await folder.push();
    const second = await folder.pull(S, 2, "--apply");
    expect([second.code, second.stdout]).toEqual([0, "write\tb.txt\n"]);
  });

  it("reports a conflict for a file that was changed here since", async () => {
    turn(null, { "a.txt": "a1" });
    await folder.pull(S, 1, "--apply");
    turn(1, { "a.txt": "a2", "b.txt": "b2" });
    await folder.edit({ "a.txt": "mine" });
    await expect(folder.pull(S, 2, "--apply")).rejects.toThrow("Nothing was written");
    expect(await folder.files()).toEqual({ "a.txt": "mine", "b.txt": "b", "c.txt": "c" });
  });
});

describe("a conflict that --skip-conflicts skipped", () => {
  beforeEach(async () => {
    turn(null, { "a.txt": "a1", "b.txt": "b1" });
    await folder.edit({ "a.txt": "mine" });
    expect((await folder.pull(S, 1, "--apply", "--skip-conflicts")).code).toBe(1);
  });

  it("keeps its older base in the note, and is a conflict of the next turn", async () => {
    expect(await folder.note()).toMatchObject({
      includes: [{ session: S, turn: 1, bases: [{ path: "a.txt", sha256: hashOfText("a") }] }],
    });
    await folder.push();
    expect(ask(1, {})).toEqual(["a.txt"]);
  });

  it.each([
    { winner: "turn" as const, here: "a1", steps: "write\ta.txt\n" },
    { winner: "upload" as const, here: "mine", steps: "" },
  ])("ends with the side that wins: $winner", async ({ winner, here, steps }) => {
    await folder.push();
    expect(ask(1, {}, winner)).toEqual([]);
    const second = await folder.pull(S, 2, "--apply");
    expect([second.stdout, (await folder.files())["a.txt"]]).toEqual([steps, here]);
  });

  it("is offered again by the next pull of the turn, once the user has undone the change", async () => {
    await folder.edit({ "a.txt": "a" });
    expect((await folder.pull(S, 1, "--apply")).stdout).toBe("write\ta.txt\n");
    expect((await folder.note())["includes"]).toEqual([expect.not.objectContaining({ bases: [] })]);
  });
});

describe("a path that push or pull left out", () => {
  it("counts as unchanged: the turn's file stays in the state, and is no deletion", async () => {
    await folder.edit({ ".gitignore": "dist/\n" });
    await folder.push();
    turn(null, { "dist/app.js": "built", "a.txt": "a1" });
    const pulled = await folder.pull(S, 1, "--apply");
    expect(pulled.screen).toContain("left out, ignored by git: dist/");
    await folder.edit({ "b.txt": "mine" });
    await folder.push();
    expect(service.versions.at(-1)?.includes).toEqual([
      { session: S, turn: 1, left_out: ["dist/app.js"] },
    ]);
    turn(1, {});
    expect([...service.turn(S, 2).tree.keys()]).toContain("dist/app.js");
  });

  it("was pulled before it was ignored, and is not deleted by the push", async () => {
    turn(null, { "out/x": "x1" });
    await folder.pull(S, 1, "--apply");
    await folder.edit({ ".gitignore": "out/\n" });
    await folder.push();
    turn(1, { "out/x": "x2" });
    expect((await folder.pull(S, 2, "--apply")).screen).toContain("left out, ignored by git: out/");
    expect((await folder.files())["out/x"]).toBe("x1");
    await folder.pull(S, 2, "--apply", "--include", "out/");
    expect((await folder.files())["out/x"]).toBe("x2");
  });

  it("can be pulled later with --include", async () => {
    turn(null, { ".env.production": "KEY=1" });
    await folder.pull(S, 1, "--apply");
    const again = await folder.pull(S, 1, "--apply", "--include", ".env.production");
    expect(again.stdout).toBe("write\t.env.production\n");
  });

  it("is deleted in the next turn if the user deletes it while it is pushed", async () => {
    turn(null, { "d.txt": "d1" });
    await folder.pull(S, 1, "--apply");
    await folder.edit({ "d.txt": null });
    await folder.push();
    turn(1, {});
    expect([...service.turn(S, 2).tree.keys()]).not.toContain("d.txt");
  });
});

describe("pull from another branch", () => {
  it("moves the folder from the noted turn to the named turn, says so, and keeps the user's changes", async () => {
    turn(null, { "a.txt": "a1" });
    turn(1, { "a.txt": "a2", "d.txt": "d2" });
    turn(1, { "b.txt": "b3" });
    await folder.pull(S, 2, "--apply");
    await folder.edit({ "c.txt": "mine" });
    const moved = await folder.pull(S, 3, "--apply");
    expect(moved.screen).toContain(
      "moves the folder from turn 2 to turn 3, which does not continue turn 2",
    );
    expect(await folder.files()).toEqual({ "a.txt": "a1", "b.txt": "b3", "c.txt": "mine" });
  });

  it("also moves back to an earlier turn, and a push after it starts from there", async () => {
    turn(null, { "a.txt": "a1" });
    turn(1, { "a.txt": "a2" });
    await folder.pull(S, 2, "--apply");
    const moved = await folder.pull(S, 1, "--apply");
    expect(moved.screen).toContain("moves the folder from turn 2 to turn 1");
    await folder.edit({ "b.txt": "mine" });
    await folder.push();
    turn(1, {});
    expect(service.turn(S, 3).tree.get("a.txt")).toBe(hashOfText("a1"));
  });

  it("says nothing for a later turn of the same branch", async () => {
    turn(null, { "a.txt": "a1" });
    turn(1, { "a.txt": "a2" });
    await folder.pull(S, 1, "--apply");
    expect((await folder.pull(S, 2)).screen).not.toContain("moves");
  });
});

describe("two folders on one context", () => {
  it("carry a turn on after one of them has pulled the other's version", async () => {
    await using other = await LinkedFolder.create(service.url);
    turn(null, { "a.txt": "a1" });
    await folder.pull(S, 1, "--apply");
    await folder.push();
    await other.run("pull", "--name", "site", "--apply");
    expect(await other.note()).toMatchObject({ includes: [{ session: S, turn: 1 }] });
    await other.edit({ "b.txt": "theirs" });
    await other.push();
    turn(1, { "a.txt": "a2" });
    expect((await other.pull(S, 2, "--apply")).stdout).toBe("write\ta.txt\n");
    const mine = await folder.pull(S, 2, "--apply");
    expect([mine.code, mine.stdout]).toEqual([0, "write\ta.txt\nwrite\tb.txt\n"]);
    expect(await folder.files()).toEqual(await other.files());
    expect((await folder.push()).stdout).toContain("is pushed");
  });

  it("pull a version with changes of a file that the turn had changed before", async () => {
    await using other = await LinkedFolder.create(service.url);
    await other.run("pull", "--name", "site", "--apply");
    turn(null, { "a.txt": "a1" });
    for (const one of [folder, other]) await one.pull(S, 1, "--apply");
    await other.edit({ "a.txt": "edited" });
    await other.push();
    const pulled = await folder.run("pull", "--apply");
    expect([pulled.code, pulled.stdout]).toEqual([0, "write\ta.txt\n"]);
  });
});

describe("a folder without a note", () => {
  it("that is empty receives the whole project", async () => {
    await using empty = await LinkedFolder.create(service.url);
    turn(null, { "a.txt": "a1", "b.txt": null });
    await empty.pull(S, 1, "--apply");
    expect(await empty.files()).toEqual({ "a.txt": "a1", "c.txt": "c" });
    expect(await empty.note()).toMatchObject({ name: "site", includes: [{ session: S, turn: 1 }] });
  });
});

it("a note of an older program is read, and the turn is compared with its version", async () => {
  const { server, name, version } = await folder.note();
  await folder.edit({ ".massgen-edge/context.json": JSON.stringify({ server, name, version }) });
  turn(null, { "a.txt": "a1" });
  expect((await folder.pull(S, 1, "--apply")).stdout).toBe("write\ta.txt\n");
});

it("the folder of this program has a .gitignore that hides it from git", async () => {
  const { readFile } = await import("node:fs/promises");
  expect(await readFile(`${folder.root}/.massgen-edge/.gitignore`, "utf8")).toBe("*\n");
});
