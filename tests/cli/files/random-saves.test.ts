import { mkdir, mkdtemp, readdir, readFile, rm, rmdir, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createRandom, type Random } from "../../../src/coordination/random";
import { bytesOf, ResultServer } from "./result-server";
import { saving } from "./saving";

/**
 * Random histories of a user and a run that change the same few paths, with saves between them,
 * some of which break off. A model predicts every file and every conflict. It does not use the
 * program's comparison: it knows only what each side has at each path.
 */
const HISTORIES = 60;
const STEPS = 14;
/** Few paths, among them files that are folders of others. */
const PATHS = ["a", "a/b", "a/b/c", "d", "d/e", "f", "g/h", "g/i"];

type Tree = Map<string, string>;

let root = "";
let server: ResultServer;
beforeAll(async () => {
  root = await mkdtemp(path.join(tmpdir(), "saves-"));
  server = await ResultServer.start();
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await rm(root, { recursive: true });
});

const pick = <T>(items: readonly T[], random: Random): T =>
  items[Math.floor(random() * items.length)] as T;
const isInside = (one: string, other: string): boolean => one.startsWith(`${other}/`);
/** Text or binary. A content appears only once, except where a side copies or renames a file. */
let contents = 0;
const newContent = (random: Random): string =>
  `${random() < 0.3 ? "\x00\xff" : "text"} ${++contents}`;

/** Changes, deletes or renames a file, or replaces files by a file or a folder. */
function change(tree: Tree, random: Random): void {
  const target = pick(PATHS, random);
  const [source] = [...tree.keys()].filter(() => random() < 0.5);
  const action = pick(["write", "write", "delete", "rename"] as const, random);
  if (action === "delete") {
    if (source !== undefined) tree.delete(source);
    return;
  }
  const content = action === "rename" && source !== undefined ? tree.get(source) : undefined;
  if (content !== undefined && source !== undefined) tree.delete(source);
  for (const other of [...tree.keys()])
    if (isInside(other, target) || isInside(target, other)) tree.delete(other);
  tree.set(target, content ?? newContent(random));
}

/** The user's folder after a save, and the paths in conflict. */
function predict(base: Tree, theirs: Tree, here: Tree): { after: Tree; conflicts: Set<string> } {
  const conflicts = new Set<string>();
  const [deleted, written] = [new Set<string>(), new Set<string>()];
  for (const file of new Set([...base.keys(), ...theirs.keys()])) {
    const sides = [base.get(file), theirs.get(file), here.get(file)];
    const [was, is, local] = sides;
    if (was === is || is === local) continue;
    if (local !== was) conflicts.add(file);
    else (is === undefined ? deleted : written).add(file);
  }
  for (const file of written) {
    const blocking = [...here.keys()].filter(
      (other) => (isInside(other, file) || isInside(file, other)) && !deleted.has(other),
    );
    if (blocking.length > 0) conflicts.add(file);
  }
  const after = new Map(here);
  for (const file of deleted) after.delete(file);
  for (const file of written) if (!conflicts.has(file)) after.set(file, theirs.get(file) ?? "");
  return { after, conflicts };
}

async function readTree(folder: string): Promise<Tree> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const tree: Tree = new Map();
  for (const entry of entries) {
    const file = path.relative(folder, path.join(entry.parentPath, entry.name));
    if (entry.isFile() && !file.startsWith(".massgen-edge"))
      tree.set(file, await readFile(path.join(folder, file), "latin1"));
  }
  return tree;
}

/** Makes the folder equal to the tree. The user leaves no empty folders. */
async function writeTree(folder: string, tree: Tree): Promise<void> {
  for (const file of (await readTree(folder)).keys()) {
    if (tree.has(file)) continue;
    await rm(path.join(folder, file));
    for (let parent = path.dirname(file); parent !== "."; parent = path.dirname(parent))
      await rmdir(path.join(folder, parent)).catch(() => undefined);
  }
  for (const [file, content] of tree) {
    await mkdir(path.dirname(path.join(folder, file)), { recursive: true });
    await writeFile(path.join(folder, file), bytesOf(content));
  }
}

const sorted = (tree: Tree) => [...tree].sort(([a], [b]) => (a < b ? -1 : 1));
const conflictsIn = (output: string): string[] =>
  [...output.matchAll(/^conflict\t([^\t]+)\t/gm)].map(([, file]) => file ?? "").sort();

/** The state of one history. `base`: what the last save left of each file of the result. */
class History {
  base: Tree = new Map();
  readonly theirs: Tree = new Map();

  constructor(
    readonly folder: string,
    readonly random: Random,
  ) {}

  async step(): Promise<void> {
    const kind = pick(
      ["run", "run", "user", "save", "save", "skip", "breaks", "breaks"] as const,
      this.random,
    );
    if (kind === "run") for (let n = 0; n < 3; n += 1) change(this.theirs, this.random);
    else if (kind === "user") {
      const here = await readTree(this.folder);
      change(here, this.random);
      await writeTree(this.folder, here);
    } else await this.#save(kind);
  }

  async #save(kind: "save" | "skip" | "breaks"): Promise<void> {
    server.files = Object.fromEntries(this.theirs);
    server.answersLeft = kind === "breaks" ? Math.floor(this.random() * 3) : null;
    const here = await readTree(this.folder);
    const { after, conflicts } = predict(this.base, this.theirs, here);
    const options = { skipConflicts: kind !== "save" };
    const { code, output } = await saving(this.folder, { server, session: "session_1", options });
    expect(conflictsIn(output)).toEqual([...conflicts].sort());
    const found = await readTree(this.folder);
    if (kind === "breaks" && code > 1) return this.#afterBreak(here, after, found);
    const isRefused = kind === "save" && conflicts.size > 0;
    expect(sorted(found)).toEqual(sorted(isRefused ? here : after));
    expect(code).toBe(conflicts.size > 0 ? 1 : 0);
    if (!isRefused) this.#settle(conflicts);
  }

  /** Each file is as before or as after the save. What was done counts as saved. */
  #afterBreak(here: Tree, after: Tree, found: Tree): void {
    for (const file of new Set([...here.keys(), ...after.keys(), ...found.keys()])) {
      const content = found.get(file);
      expect([here.get(file), after.get(file)]).toContain(content);
      if (content === after.get(file) && content !== here.get(file)) set(this.base, file, content);
    }
  }

  #settle(conflicts: ReadonlySet<string>): void {
    for (const file of new Set([...this.base.keys(), ...this.theirs.keys()]))
      if (!conflicts.has(file)) set(this.base, file, this.theirs.get(file));
  }
}

function set(tree: Tree, file: string, content: string | undefined): void {
  if (content === undefined) tree.delete(file);
  else tree.set(file, content);
}

it(`${HISTORIES} random histories end as predicted: no file of the user is overwritten, none of the run is lost`, async () => {
  for (let seed = 1; seed <= HISTORIES; seed += 1) {
    const history = new History(await mkdtemp(path.join(root, "out-")), createRandom(seed));
    for (let count = 1; count <= STEPS; count += 1) {
      await history.step().catch((cause: unknown) => {
        throw new Error(`seed ${seed}, step ${count}: ${String(cause)}`, { cause });
      });
    }
  }
});
