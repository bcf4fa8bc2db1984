import { cp, link, mkdtemp, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ContractService, hashOfText } from "./contract-service";
import { LinkedFolder } from "./linked-folder";

/** `pull --review` at a terminal, and what the folder's note keeps for the next pull and push. */

const S = "session_01jdtest0000000000000000";
const ENTER = "\r";
const DOWN = "\x1b[B";
/** The keys that choose an option of a menu by its index. */
const choose = (index: number): string => DOWN.repeat(index) + ENTER;

const middle = Array.from({ length: 12 }, (_, index) => `line ${index}`);
const page = (first: string, last: string): string => [first, ...middle, last, ""].join("\n");
const [BEFORE, AFTER] = [page("top", "end"), page("TOP", "END")];

let service: ContractService;
let folder: LinkedFolder;

beforeEach(async () => {
  service = await new ContractService().start();
  folder = await LinkedFolder.create(service.url);
  await folder.edit({ "a.txt": "a\n", "gone.txt": "gone\n", "page.txt": BEFORE });
  await folder.push();
  const changes = { "a.txt": "a1\n", "new.txt": "new\n", "page.txt": AFTER };
  service.ask(S, {
    parent: null,
    work: (tree) => {
      for (const [path, text] of Object.entries(changes)) tree.set(path, hashOfText(text));
      tree.delete("gone.txt");
    },
  });
});
afterEach(async () => {
  await folder[Symbol.asyncDispose]();
  await service[Symbol.asyncDispose]();
});

/** Each answer is the text that the screen shows before it, and the index of the option. */
const review = (answers: readonly (readonly [string, number])[], ...args: string[]) =>
  folder.at(
    { keys: answers.map(([after, index]) => [after, choose(index)] as const) },
    "pull",
    ...(args.length > 0 ? args : ["--session", S, "--turn", "1"]),
    "--review",
  );
const [TAKE, LEAVE] = [0, 1];
/** The options of a file with several hunks. */
const [HUNKS, LEAVE_WITH_HUNKS] = [1, 2];
const ask = () => service.ask(S, { parent: 1, work: () => undefined });

describe("pull --review", () => {
  it("shows each file with its diff, and takes and leaves whole files", async () => {
    const result = await review([
      ["write a.txt?", TAKE],
      ["delete gone.txt?", TAKE],
      ["write new.txt?", LEAVE],
      ["write page.txt?", LEAVE_WITH_HUNKS],
    ]);
    expect(result.screen).toContain("-a\n+a1\n");
    expect(result.screen).toContain("-gone\n");
    expect(result.screen).toContain(
      "1 written, 1 deleted, 0 conflicts, 2 files left or taken partly",
    );
    expect([result.code, await folder.files()]).toEqual([
      0,
      { "a.txt": "a1\n", "page.txt": BEFORE },
    ]);
  });

  it("keeps the older base of a left file: it is offered again, and the turn's side stays", async () => {
    await review([
      ["write a.txt?", LEAVE],
      ["delete gone.txt?", LEAVE],
      ["write new.txt?", LEAVE],
      ["write page.txt?", LEAVE_WITH_HUNKS],
    ]);
    await folder.edit({ "other.txt": "mine\n" });
    await folder.push();
    expect(ask()).toEqual([]);
    const { tree } = service.turn(S, 2);
    expect(Object.fromEntries(tree)).toEqual({
      "a.txt": hashOfText("a1\n"),
      "new.txt": hashOfText("new\n"),
      "other.txt": hashOfText("mine\n"),
      "page.txt": hashOfText(AFTER),
    });
    const next = await folder.pull(S, 2, "--apply");
    expect([next.code, next.stdout.split("\n").filter(Boolean).sort()]).toEqual([
      0,
      ["delete\tgone.txt", "write\ta.txt", "write\tnew.txt", "write\tpage.txt"],
    ]);
  });

  it("takes single hunks; while the file is unchanged, the rest is offered again", async () => {
    const result = await review([
      ["write a.txt?", TAKE],
      ["delete gone.txt?", TAKE],
      ["write new.txt?", TAKE],
      ["write page.txt?", HUNKS],
      ["hunk 1 of 2?", TAKE],
      ["hunk 2 of 2?", LEAVE],
    ]);
    const partly = page("TOP", "end");
    expect([result.code, (await folder.files())["page.txt"]]).toEqual([0, partly]);
    expect(await folder.note()).toMatchObject({
      includes: [
        {
          bases: [{ path: "page.txt", sha256: hashOfText(BEFORE) }],
          taken: [{ path: "page.txt", sha256: hashOfText(partly) }],
        },
      ],
    });
    await folder.push();
    expect(service.versions.at(-1)?.includes).toEqual([
      { session: S, turn: 1, left_out: ["page.txt"] },
    ]);
    expect(ask()).toEqual([]);
    expect(service.turn(S, 2).tree.get("page.txt")).toBe(hashOfText(AFTER));
    expect((await folder.pull(S, 2, "--apply")).stdout).toBe("write\tpage.txt\n");
    expect((await folder.files())["page.txt"]).toBe(AFTER);
  });

  it("takes single hunks, and --patch prints the rest", async () => {
    await review([
      ["write a.txt?", TAKE],
      ["delete gone.txt?", TAKE],
      ["write new.txt?", TAKE],
      ["write page.txt?", HUNKS],
      ["hunk 1 of 2?", TAKE],
      ["hunk 2 of 2?", LEAVE],
    ]);
    const patch = await folder.pull(S, 1, "--patch");
    expect([patch.code, patch.stdout.match(/^[-+]\w.*/gm)]).toEqual([0, ["-end", "+END"]]);
  });

  it("takes single hunks, and a further change of the file is a conflict of the next turn", async () => {
    await review([
      ["write a.txt?", TAKE],
      ["delete gone.txt?", TAKE],
      ["write new.txt?", TAKE],
      ["write page.txt?", HUNKS],
      ["hunk 1 of 2?", LEAVE],
      ["hunk 2 of 2?", TAKE],
    ]);
    expect((await folder.files())["page.txt"]).toBe(page("top", "END"));
    await folder.edit({ "page.txt": page("mine", "END") });
    await folder.push();
    expect(service.versions.at(-1)?.includes).toEqual([
      { session: S, turn: 1, bases: [{ path: "page.txt", sha256: hashOfText(BEFORE) }] },
    ]);
    expect(ask()).toEqual([{ path: "page.txt" }]);
  });

  it("offers no hunks for a file that was changed here, and keeps the file", async () => {
    await folder.edit({ "page.txt": page("mine", "end") });
    const result = await review([
      ["write a.txt?", TAKE],
      ["delete gone.txt?", TAKE],
      ["write new.txt?", TAKE],
    ]);
    expect(result.screen).toContain("conflict page.txt: changed on both sides; your file stays");
    expect(result.screen).not.toContain("choose hunks");
    expect([result.code, (await folder.files())["page.txt"]]).toEqual([1, page("mine", "end")]);
  });

  it("asks once about a file that was renamed in case and changed", async () => {
    const other = S.replace("jd", "je");
    await folder.replace({ "Readme.md": "old\n" });
    await folder.push();
    service.ask(other, {
      parent: null,
      work: (tree) => tree.delete("Readme.md") && tree.set("README.md", hashOfText("new\n")),
    });
    // on this disk, both names lead to one file, as on a disk that ignores case
    await link(path.join(folder.root, "Readme.md"), path.join(folder.root, "README.md"));
    const asks = (answer: number) =>
      review([["write README.md?", answer]], "--session", other, "--turn", "1");
    const left = await asks(LEAVE);
    expect(left.screen).toContain("1 of 1");
    expect(left.screen).not.toContain("rename README.md?");
    expect(await folder.files()).toEqual({ "README.md": "old\n", "Readme.md": "old\n" });
    await asks(TAKE);
    expect(await folder.files()).toEqual({ "README.md": "new\n" });
  });

  it("also reviews a version: a left file stays out of the folder, and is offered again", async () => {
    await using other = await LinkedFolder.create(service.url);
    await other.run("pull", "--name", "site", "--apply");
    await other.edit({ "a.txt": "theirs\n", "page.txt": AFTER });
    await other.push();
    const result = await review(
      [
        ["write a.txt?", LEAVE],
        ["write page.txt?", HUNKS],
        ["hunk 1 of 2?", TAKE],
        ["hunk 2 of 2?", LEAVE],
      ],
      "--name",
      "site",
    );
    expect([result.code, (await folder.files())["page.txt"]]).toEqual([0, page("TOP", "end")]);
    await expect(folder.push()).rejects.toThrow("A pull skipped these files");
    const patch = await folder.run("pull", "--patch");
    expect(patch.stdout.match(/^[-+]\w.*/gm)).toEqual(["-a", "+theirs", "-end", "+END"]);
    const next = await folder.run("pull", "--apply");
    expect([next.code, next.stdout]).toEqual([0, "write\ta.txt\nwrite\tpage.txt\n"]);
    expect((await folder.push()).stdout).toContain("is unchanged");
  });

  it("of a version that was killed before its note has not merged a partly taken file", async () => {
    await using other = await LinkedFolder.create(service.url);
    await other.run("pull", "--name", "site", "--apply");
    await other.edit({ "a.txt": "theirs\n", "page.txt": AFTER });
    await other.push();
    const notes = path.join(folder.root, ".massgen-edge");
    const kept = await mkdtemp(path.join(tmpdir(), "kept-"));
    // the last copy is that before the only file that is downloaded after the questions
    const keep = async () => {
      await cp(notes, kept, { recursive: true, force: true });
      service.beforeContents = keep;
    };
    service.beforeContents = keep;
    await review(
      [
        ["write a.txt?", TAKE],
        ["write page.txt?", HUNKS],
        ["hunk 1 of 2?", TAKE],
        ["hunk 2 of 2?", LEAVE],
      ],
      "--name",
      "site",
    );
    await rm(notes, { recursive: true });
    await rename(kept, notes);
    await expect(folder.push()).rejects.toThrow("A pull skipped these files");
  });

  describe("of a turn into an empty folder", () => {
    let empty: LinkedFolder;
    beforeEach(async () => {
      empty = await LinkedFolder.create(service.url);
      const keys = [
        ["write a.txt?", choose(TAKE)],
        ["write new.txt?", choose(LEAVE)],
        ["write page.txt?", choose(LEAVE)],
      ] as const;
      await empty.at({ keys }, "pull", "--session", S, "--turn", "1", "--review");
    });
    afterEach(() => empty[Symbol.asyncDispose]());
    const leftOut = () => service.versions.at(-1)?.leftOut;

    it("leaves files that the next push does not delete", async () => {
      expect(await empty.files()).toEqual({ "a.txt": "a1\n" });
      await empty.push();
      expect(leftOut()).toEqual([{ path: "page.txt", sha256: null }]);
      await empty.pull(S, 1, "--apply");
      expect(await empty.files()).toEqual({
        "a.txt": "a1\n",
        "new.txt": "new\n",
        "page.txt": AFTER,
      });
    });

    it("leaves files that are deleted by a push once they have arrived", async () => {
      await empty.pull(S, 1, "--apply");
      await empty.edit({ "page.txt": null });
      await empty.push();
      expect(leftOut()).toEqual([]);
    });
  });

  it("takes the rest at once, or leaves it", async () => {
    await review([["write a.txt?", 2]]);
    expect(await folder.files()).toEqual({
      "a.txt": "a1\n",
      "new.txt": "new\n",
      "page.txt": AFTER,
    });
  });

  it("changes nothing if the user presses Escape", async () => {
    const cancelled = folder.at(
      {
        keys: [
          ["write a.txt?", ENTER],
          ["delete gone.txt?", "\x1b"],
        ],
      },
      "pull",
      "--session",
      S,
      "--review",
    );
    await expect(cancelled).rejects.toMatchObject({ exitCode: 4 });
    expect((await folder.files())["a.txt"]).toBe("a\n");
  });

  it("is refused without a terminal, and names the alternatives", async () => {
    await expect(folder.pull(S, 1, "--review")).rejects.toThrow(
      "Use --apply to write all changes, or --patch to print them.",
    );
  });
});
