import fc from "fast-check";
import { expect, it } from "vitest";
import { ContractService, hashOfText } from "./contract-service";
import { LinkedFolder } from "./linked-folder";

/**
 * Random edits of both sides to the same files: changed, deleted, renamed, binary, a file that
 * became a folder, and a folder that became a file. A pull overwrites nothing of the user's, and
 * what it does not write stays available for the next turn.
 */

const S = "session_01jdtest0000000000000000";
const BASE: Readonly<Record<string, string>> = {
  "a.txt": "a",
  "b.txt": "b",
  "dir/c.txt": "c",
  "dir/d.txt": "d",
  e: "e",
};
type Tree = Map<string, string>;

const path = fc.constantFrom(...Object.keys(BASE));
const edit = fc.oneof(
  fc.record({ kind: fc.constantFrom("change", "delete", "rename", "binary", "folder"), path }),
  fc.record({ kind: fc.constant("file"), path: fc.constant("dir/c.txt") }),
);
type Edit = { kind: string; path: string };

/** Applies an edit. `side`: part of each new text, so that most edits of the sides differ. */
function apply(tree: Tree, { kind, path }: Edit, side: string): void {
  if (!tree.has(path)) return;
  const text = tree.get(path) ?? "";
  if (kind === "change") tree.set(path, `${text} ${side}`);
  if (kind === "binary") tree.set(path, `\0${side}`);
  if (kind === "rename") tree.set(`${path}-renamed`, text);
  if (kind === "folder") tree.set(`${path}/inner`, `inner ${side}`);
  if (kind === "file") {
    for (const inner of [...tree.keys()].filter((name) => name.startsWith("dir/")))
      tree.delete(inner);
    tree.set("dir", `file ${side}`);
  }
  if (kind === "delete" || kind === "rename" || kind === "folder") tree.delete(path);
}

const edited = (edits: readonly Edit[], side: string): Tree => {
  const tree = new Map(Object.entries(BASE));
  for (const one of edits) apply(tree, one, side);
  return tree;
};

const changedPaths = (tree: Tree): string[] =>
  [...new Set([...Object.keys(BASE), ...tree.keys()])].filter(
    (name) => tree.get(name) !== BASE[name],
  );
/** Whether two paths cannot both be files. */
const collide = (one: string, other: string): boolean =>
  one === other || one.startsWith(`${other}/`) || other.startsWith(`${one}/`);

const sides = fc.constantFrom("user", "same");

it("a pull with edits on both sides overwrites nothing of the user's and loses nothing of the run", async () => {
  const edits = fc.array(edit, { maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(edits, edits, sides, async (users, turns, side) => {
      await using service = await new ContractService().start();
      await using folder = await LinkedFolder.create(service.url);
      await folder.edit(BASE);
      await folder.push();
      const theirs = edited(turns, side === "same" ? "same" : "turn");
      service.ask(S, {
        parent: null,
        work: (tree) => {
          tree.clear();
          for (const [name, text] of theirs) tree.set(name, hashOfText(text));
        },
      });
      const user = edited(users, side);
      await folder.replace(Object.fromEntries(user));
      const { stdout } = await folder.pull(S, 1, "--apply", "--skip-conflicts");
      const lines = stdout.split("\n").filter((line) => line.startsWith("conflict"));
      const conflicts = lines.map((line) => line.split("\t")[1] ?? "");
      const after = new Map(Object.entries(await folder.files()));

      const mine = changedPaths(user);
      for (const name of mine) expect([name, after.get(name)]).toEqual([name, user.get(name)]);
      for (const name of changedPaths(theirs))
        if (!conflicts.includes(name))
          expect([name, after.get(name)]).toEqual([name, theirs.get(name)]);
      for (const name of conflicts) expect(mine.some((own) => collide(own, name))).toBe(true);

      if (after.size === 0) return;
      await folder.push();
      service.ask(S, { parent: 1, work: () => undefined, winner: "upload" });
      const next = service.turn(S, 2).tree;
      const hash = (text: string | undefined) =>
        text === undefined ? undefined : hashOfText(text);
      for (const name of changedPaths(theirs))
        if (!mine.some((own) => collide(own, name)))
          expect([name, next.get(name)]).toEqual([name, hash(theirs.get(name))]);
      for (const name of mine) expect([name, next.get(name)]).toEqual([name, hash(user.get(name))]);
    }),
    { numRuns: 200 },
  );
}, 120_000);
