import { ancestorsOf, relativePath } from "../workspace/paths";
import { FileError, type FileEntry, type Tree } from "../workspace/types";
import { quoted, UploadRefusal } from "./refusals";
import { CONTEXT_LIMITS } from "../protocol/context-limits";

/**
 * Builds a tree file by file. Each method throws `UploadRefusal` if a path is invalid or a limit is
 * exceeded.
 */
export class TreeBuilder {
  readonly #files = new Map<string, FileEntry>();
  /** Paths of all directories that contain files. */
  readonly #directories = new Set<string>();
  #bytes = 0;

  /** Returns the normalized path of a file. Call it to check a name before reading the contents. */
  place(name: string): string {
    const path = toPath(name);
    if (this.#files.has(path))
      throw refused(`${quoted(name)} occurs twice: two names must not refer to the same file`);
    if (this.#directories.has(path)) throw refused(`${quoted(name)} is a file and a directory`);
    for (const parent of ancestorsOf(path)) {
      if (this.#files.has(parent)) throw refused(`${quoted(parent)} is a file and a directory`);
    }
    return path;
  }

  /** Adds a file. */
  add(name: string, entry: FileEntry): void {
    const path = this.place(name);
    const { bytes, files, fileBytes } = CONTEXT_LIMITS;
    if (entry.size > fileBytes) throw tooLarge(`${quoted(name)} is larger than ${fileBytes} bytes`);
    this.#bytes += entry.size;
    if (this.#bytes > bytes) throw tooLarge(`the files are larger than ${bytes} bytes together`);
    this.#files.set(path, entry);
    if (this.#files.size > files) throw tooLarge(`there are more than ${files} files`);
    for (const parent of ancestorsOf(path)) this.#directories.add(parent);
    if (this.#directories.size > files) throw tooLarge(`there are more than ${files} directories`);
  }

  /** Returns the tree, sorted by path in UTF-16 order. Throws if a hash has two sizes. */
  tree(): Tree {
    const sizes = new Map<string, number>();
    for (const [path, { hash, size }] of this.#files) {
      if ((sizes.get(hash) ?? size) !== size)
        throw refused(`${quoted(path)} has the hash of another file and another size`);
      sizes.set(hash, size);
    }
    return new Map([...this.#files].sort(([one], [other]) => (one < other ? -1 : 1)));
  }
}

/** Total bytes of a tree. */
export const treeBytes = (tree: Tree): number =>
  [...tree.values()].reduce((sum, { size }) => sum + size, 0);

function toPath(name: string): string {
  try {
    return relativePath(name);
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    throw refused(error.message.replace(/\.$/, ""));
  }
}

const refused = (problem: string): UploadRefusal =>
  new UploadRefusal("path_invalid", `Invalid paths: ${problem}.`);
const tooLarge = (problem: string): UploadRefusal =>
  new UploadRefusal(
    "context_too_large",
    `The files exceed a limit: ${problem}. Remove files that the agents do not need.`,
  );
