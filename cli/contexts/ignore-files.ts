import { readFile, stat } from "node:fs/promises";
import path from "node:path";
import ignore from "ignore";
import type { IgnoreFile } from "./exclusions";
import { localPath } from "./local-names";

/**
 * Reads the ignore rules of git for a folder: `.gitignore` files in the folder and in its parents
 * up to the repository, and the repository's `info/exclude`. The user's global file
 * (`core.excludesFile`) is not read.
 */
export class IgnoreFiles {
  readonly #root: string;
  readonly #filesByFolder = new Map<string, Promise<readonly IgnoreFile[]>>();

  constructor(root: string) {
    this.#root = root;
  }

  /** Returns the ignore files that apply to a path; the nearest comes last. Folders end in `/`. */
  async applyingTo(filePath: string): Promise<readonly IgnoreFile[]> {
    return this.#filesOf(filePath.slice(0, filePath.lastIndexOf("/", filePath.length - 2) + 1));
  }

  /**
   * The ignore files of a folder and its parents. `folder`: "" for the root, else with a final `/`.
   */
  #filesOf(folder: string): Promise<readonly IgnoreFile[]> {
    const found = this.#filesByFolder.get(folder) ?? this.#read(folder);
    this.#filesByFolder.set(folder, found);
    return found;
  }

  async #read(folder: string): Promise<readonly IgnoreFile[]> {
    const above = await (folder === "" ? ignoreFilesAbove(this.#root) : this.applyingTo(folder));
    const place = await localPath(this.#root, `${folder}.gitignore`);
    const own = await ignoreFileAt(place, { base: folder, prefix: "" });
    return own ? [...above, own] : above;
  }
}

type RuleScope = Pick<IgnoreFile, "base" | "prefix">;

async function ignoreFileAt(file: string, scope: RuleScope): Promise<IgnoreFile | null> {
  const text = await readFile(file, "utf8").catch(() => null);
  return text === null ? null : { ...scope, rules: ignore().add(text) };
}

/**
 * The ignore files above the root, up to the repository. Their rules also apply inside the root.
 * Empty if the root is in no repository.
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
    if (parent === folder) return []; // no repository: parent folders do not apply
    prefix = `${path.basename(folder)}/${prefix}`;
    folder = parent;
    const file = await ignoreFileAt(path.join(folder, ".gitignore"), { base: "", prefix });
    if (file) found.unshift(file);
  }
}

/** The git directory of a repository; `null` if the folder is not the top of a repository. */
async function repositoryAt(folder: string): Promise<string | null> {
  const git = path.join(folder, ".git");
  const entry = await stat(git).catch(() => null);
  if (entry === null) return null;
  if (entry.isDirectory()) return git;
  // In a linked worktree, `.git` is a file. It names the worktree's own git directory, whose
  // `commondir` names the directory that all worktrees share.
  const own = await lineAfter(git, "gitdir: ", folder);
  return own && ((await lineAfter(path.join(own, "commondir"), "", own)) ?? own);
}

/**
 * The path after `start` in the first line of a file, resolved against `from`; `null` if the line
 * does not begin with `start`.
 */
async function lineAfter(file: string, start: string, from: string): Promise<string | null> {
  const text = await readFile(file, "utf8").catch(() => "");
  const line = text.split("\n", 1)[0]?.trim() ?? "";
  return line.length > start.length && line.startsWith(start)
    ? path.resolve(from, line.slice(start.length))
    : null;
}
