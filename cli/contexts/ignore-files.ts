import { readFile, stat } from "node:fs/promises";
import path from "node:path";
import ignore from "ignore";
import type { IgnoreFile } from "./left-out";

/**
 * What git ignores in a folder, by the `.gitignore` files in it and in the folders above it up to
 * its repository, and by that repository's `info/exclude`. The user's own file for all repositories
 * (`core.excludesFile`) is not read.
 */
export class IgnoreFiles {
  readonly #root: string;
  readonly #found = new Map<string, Promise<readonly IgnoreFile[]>>();

  constructor(root: string) {
    this.#root = root;
  }

  /** Those that say something of a path inside, the nearest last. Folders end in `/`. */
  async for(inside: string): Promise<readonly IgnoreFile[]> {
    return this.#in(inside.slice(0, inside.lastIndexOf("/", inside.length - 2) + 1));
  }

  /** `at`: a folder, "" or with a final `/`. */
  #in(at: string): Promise<readonly IgnoreFile[]> {
    const found = this.#found.get(at) ?? this.#read(at);
    this.#found.set(at, found);
    return found;
  }

  async #read(at: string): Promise<readonly IgnoreFile[]> {
    const above = await (at === "" ? ignoreFilesAbove(this.#root) : this.for(at));
    const own = await ignoreFileAt(path.join(this.#root, at, ".gitignore"), {
      base: at,
      prefix: "",
    });
    return own ? [...above, own] : above;
  }
}

type Reach = Pick<IgnoreFile, "base" | "prefix">;

async function ignoreFileAt(file: string, reach: Reach): Promise<IgnoreFile | null> {
  const text = await readFile(file, "utf8").catch(() => null);
  return text === null ? null : { ...reach, rules: ignore().add(text) };
}

/**
 * Those of the folders above, up to the repository's own: what git ignores it ignores in a folder
 * inside too.
 */
async function ignoreFilesAbove(root: string): Promise<IgnoreFile[]> {
  const found: IgnoreFile[] = [];
  let prefix = "";
  for (let folder = path.resolve(root); ; ) {
    const repository = await repositoryAt(folder);
    if (repository !== null) {
      const exclude = await ignoreFileAt(path.join(repository, "info", "exclude"), {
        base: "",
        prefix,
      });
      return exclude ? [exclude, ...found] : found;
    }
    const parent = path.dirname(folder);
    if (parent === folder) return []; // no repository: folders above do not count
    prefix = `${path.basename(folder)}/${prefix}`;
    folder = parent;
    const file = await ignoreFileAt(path.join(folder, ".gitignore"), { base: "", prefix });
    if (file) found.unshift(file);
  }
}

/** Where the repository of a folder keeps what is its own; null where the folder is none's top. */
async function repositoryAt(folder: string): Promise<string | null> {
  const git = path.join(folder, ".git");
  const entry = await stat(git).catch(() => null);
  if (entry === null) return null;
  if (entry.isDirectory()) return git;
  // In a further worktree it is a file that leads to a folder of the worktree's own, and that one
  // to what all of them share.
  const own = await lineAfter(git, "gitdir: ", folder);
  return own && ((await lineAfter(path.join(own, "commondir"), "", own)) ?? own);
}

/** The path that a file holds behind `start`, from a folder; `null` if there is no such path. */
async function lineAfter(file: string, start: string, from: string): Promise<string | null> {
  const text = await readFile(file, "utf8").catch(() => "");
  const line = text.split("\n", 1)[0]?.trim() ?? "";
  return line.length > start.length && line.startsWith(start)
    ? path.resolve(from, line.slice(start.length))
    : null;
}
