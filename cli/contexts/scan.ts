import { createHash } from "node:crypto";
import { constants, type Dirent } from "node:fs";
import { type FileHandle, open, readdir } from "node:fs/promises";
import path from "node:path";
import { relativePath } from "../../src/workspace/paths";
import { FileError } from "../../src/workspace/types";
import { CliError, EXIT } from "../exit-codes";
import { plural } from "../../src/describe/figures";
import { codeOf, reasonOf } from "../local-files";
import { IgnoreFiles } from "./ignore-files";
import {
  holdsToken,
  Includes,
  type Exclusion,
  exclusionReason,
  NEVER_SENT,
  type Reason,
} from "./exclusions";
import { CONTEXT_LIMITS } from "../../src/protocol/context-limits";

/**
 * A file to push. `path` is its path at the service, relative to the context; `file` is its path on
 * this machine; `hash` is the SHA-256 of its contents; `size` is in bytes.
 */
export type LocalFile = {
  path: string;
  file: string;
  hash: string;
  size: number;
  executable: boolean;
};
export type Scan = { files: LocalFile[]; exclusions: Exclusion[] };

/** SHA-256 in lower-case hex. */
export const hashOf = (bytes: Uint8Array): string =>
  createHash("sha256").update(bytes).digest("hex");

/**
 * Finds the files of a directory that a push sends. Excludes links, files that git ignores
 * (`IgnoreFiles`), possible secrets and generated files. `includes` are gitignore patterns of files
 * that are pushed despite an exclusion. Links are never followed. Throws CliError.
 */
export async function scan(directory: string, includes: readonly string[]): Promise<Scan> {
  const walk = new Walk(directory, new Includes(includes));
  await walk.run();
  const bytes = walk.files.reduce((sum, { size }) => sum + size, 0);
  const { files, bytes: maxBytes } = CONTEXT_LIMITS;
  if (walk.files.length > files || bytes > maxBytes) {
    const found = `${plural(walk.files.length, "file")}, ${Math.ceil(bytes / 1_000_000)} MB`;
    const message = `${directory} is too large: ${found}; a context has ${files} files and ${maxBytes / 1_000_000} MB at most. Leave out more in .gitignore, or push a folder inside it.`;
    throw new CliError(EXIT.config, message);
  }
  return { files: walk.files, exclusions: walk.exclusions };
}

/**
 * Whether the service accepts a path. It refuses names that mean a different file on some operating
 * systems.
 */
export function isAcceptedPath(relativeName: string): boolean {
  try {
    relativePath(relativeName);
    return true;
  } catch (error) {
    if (error instanceof FileError) return false;
    throw error;
  }
}

class Walk {
  readonly files: LocalFile[] = [];
  readonly exclusions: Exclusion[] = [];

  constructor(
    private readonly root: string,
    private readonly includes: Includes,
    private readonly ignoreFiles = new IgnoreFiles(root),
  ) {}

  async run(): Promise<void> {
    await this.#directory("");
  }

  /** `folderPath`: "" for the root, otherwise with a final `/`. */
  async #directory(folderPath: string): Promise<void> {
    const folder = path.join(this.root, folderPath);
    const entries = await readdir(folder, { withFileTypes: true }).catch((cause: unknown) => {
      throw new CliError(EXIT.config, `Cannot read the folder ${folder}: ${reasonOf(cause)}.`, {
        cause,
      });
    });
    for (const entry of entries.sort((one, other) => (one.name < other.name ? -1 : 1)))
      await this.#entry(folderPath, entry);
  }

  async #entry(folderPath: string, entry: Dirent): Promise<void> {
    if (NEVER_SENT.includes(entry.name.toLowerCase())) return;
    const isDirectory = entry.isDirectory();
    const relativeName = folderPath + entry.name + (isDirectory ? "/" : "");
    const reason = await this.#reason(relativeName, entry);
    if (reason !== null && !(isDirectory && this.includes.reachInto(relativeName)))
      this.exclusions.push({ path: relativeName, reason });
    else if (isDirectory) await this.#directory(relativeName);
    else await this.#file(relativeName);
  }

  async #reason(relativeName: string, entry: Dirent): Promise<Reason | null> {
    if (entry.isSymbolicLink()) return "a link";
    if (!entry.isDirectory() && !entry.isFile()) return "not a regular file";
    if (!isAcceptedPath(relativeName)) return "a name that is invalid on other systems";
    return exclusionReason(
      relativeName,
      await this.ignoreFiles.applyingTo(relativeName),
      this.includes,
    );
  }

  async #file(relativeName: string): Promise<void> {
    const file = path.join(this.root, relativeName);
    const read = await readPlainFile(file);
    if (read === null) this.exclusions.push({ path: relativeName, reason: "a link" });
    else if (read.bytes === null) this.exclusions.push({ path: relativeName, reason: "too large" });
    else if (holdsToken(relativeName, read.bytes) && !this.includes.matchesDirectly(relativeName))
      this.exclusions.push({ path: relativeName, reason: "may hold secrets" });
    else {
      const { bytes, executable } = read;
      this.files.push({
        path: relativeName.normalize("NFC"),
        file,
        hash: hashOf(bytes),
        size: bytes.byteLength,
        executable,
      });
    }
  }
}

type PlainFile = { bytes: Uint8Array | null; executable: boolean };
const EXECUTABLE = 0o111;

/**
 * Reads a file; `bytes` is `null` if the file is larger than the service accepts. Returns `null`
 * for a link, also if the file became a link after the caller's check. Throws CliError.
 */
export async function readPlainFile(file: string): Promise<PlainFile | null> {
  let handle: FileHandle | null = null;
  try {
    handle = await open(file, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
    const { size, mode } = await handle.stat();
    const bytes = size > CONTEXT_LIMITS.fileBytes ? null : await handle.readFile();
    return { bytes, executable: (mode & EXECUTABLE) !== 0 };
  } catch (cause) {
    if (codeOf(cause) === "ELOOP") return null;
    throw new CliError(EXIT.config, `Cannot read ${file}: ${reasonOf(cause)}.`, { cause });
  } finally {
    await handle?.close();
  }
}
