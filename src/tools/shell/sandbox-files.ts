import type { AgentFiles } from "../../workspace/agent-files";
import { FileError } from "../../workspace/types";
import { fromBytes, toBytes } from "./encoding";
import { endProcesses, quoted, type SandboxClient } from "./sandbox-client";

/** Top directories of an agent's files, below the root in the sandbox. */
const PLACES = ["/workspace", "/peers", "/contexts", "/attempts"];
/** These and their direct children for peers, contexts and attempts: they always exist. */
const ROOT = /^\/(?:workspace|(?:peers|contexts|attempts)(?:\/[^/]+)?)$/;
/** Our own files, outside the agent's directories. */
const NAMES = "/tmp/.agent-names";
export const SCRIPT = "/tmp/.agent-command";

/** The operations that commands need. */
export type RunningSandbox = Pick<SandboxClient, "exec" | "writeFile" | "readFile">;

export type SandboxLimits = {
  /** Number of files that an agent may have. */
  files: number;
  /** Bytes of a file that is copied back. */
  fileBytes: number;
};

/**
 * Copies an agent's files into a sandbox and changes back. Only files with different hashes are
 * copied: if the sandbox still has the files of the last command, that is almost nothing. A copied
 * file counts as read.
 */
export class SandboxFiles {
  readonly #sandbox: RunningSandbox;
  readonly #limits: SandboxLimits;
  /** Parent of the agent's directories in the container; "" for its root. */
  readonly root: string;
  /** Marks the processes that commands start over these files. */
  readonly mark: string;

  constructor(sandbox: RunningSandbox, root: string, limits: SandboxLimits) {
    this.#sandbox = sandbox;
    this.#limits = limits;
    this.root = root;
    this.mark = `${root}/workspace`;
  }

  /** Makes the sandbox contain exactly the agent's files, and ends what earlier commands left. */
  async copyIn(files: AgentFiles): Promise<void> {
    await this.#clear();
    const there = await this.#list();
    const wanted = new Set(this.#filesOf(files));
    const directories = withAbove([...[...wanted].map(parentOf), ...files.staged().directories]);
    const left = [
      ...[...there.files.keys()].filter((path) => !wanted.has(path)),
      ...[...there.directories].filter((path) => !directories.has(path) && !ROOT.test(path)),
    ];
    await this.#forEach("rm -rf --", left);
    await this.#forEach(
      "mkdir -p --",
      [...directories].filter((path) => !there.directories.has(path)),
    );
    const missing = [...wanted].filter(
      (path) => there.files.get(path)?.hash !== files.stat(path).hash,
    );
    for (const path of missing) await this.write(path, await files.read(path));
    const isRunnable = (path: string) => files.stat(path).executable;
    await this.#forEach(
      "chmod 755 --",
      [...wanted].filter((path) => isRunnable(path) && !there.files.get(path)?.executable),
    );
    await this.#forEach(
      "chmod 644 --",
      [...wanted].filter((path) => !isRunnable(path) && there.files.get(path)?.executable),
    );
  }

  /** Copies changes back. Returns messages for the model about changes that could not be kept. */
  async copyBack(files: AgentFiles): Promise<string[]> {
    const there = await this.#list();
    const problems = there.others.map((path) => `${path} is no plain file and was not kept.`);
    await this.#removeGone(files, there, problems);
    for (const [path, { hash, size, executable }] of there.files) {
      const known = files.exists(path) ? files.stat(path) : null;
      if (known?.hash === hash && known.executable === executable) continue;
      if (size > this.#limits.fileBytes)
        problems.push(`${path} is larger than ${this.#limits.fileBytes} bytes and was not kept.`);
      else
        await noting(problems, async () => files.write(path, await this.#read(path), executable));
    }
    const notEmpty = new Set([...there.files.keys(), ...there.directories].map(parentOf));
    for (const path of there.directories)
      if (!notEmpty.has(path) && !ROOT.test(path) && !files.exists(path))
        await noting(problems, () => files.makeDirectory(path));
    return problems;
  }

  /**
   * Files first, so that each is recorded. Directories of files that could not be removed are not
   * reported.
   */
  async #removeGone(files: AgentFiles, there: Listing, problems: string[]): Promise<void> {
    const before = this.#filesOf(files);
    const directories = withAbove([...before.map(parentOf), ...files.staged().directories]);
    const stay: string[] = [];
    for (const path of before)
      if (!there.files.has(path) && !(await noting(problems, () => files.remove(path))))
        stay.push(path);
    const kept = withAbove(stay.map(parentOf));
    // A directory sorts before its contents and is removed with them.
    for (const path of [...directories].sort())
      if (!there.directories.has(path) && !ROOT.test(path) && !kept.has(path) && files.exists(path))
        await noting(problems, () => files.remove(path));
  }

  async write(path: string, bytes: Uint8Array): Promise<void> {
    const { success } = await this.#sandbox.writeFile(
      this.root + path,
      fromBytes(bytes, "base64"),
      { encoding: "base64" },
    );
    if (!success) throw new Error(`The sandbox did not take the file ${path}.`);
  }

  async #read(path: string): Promise<Uint8Array> {
    const { success, content, encoding } = await this.#sandbox.readFile(this.root + path, {
      encoding: "base64",
    });
    if (!success) throw new Error(`The sandbox did not give the file ${path}.`);
    return toBytes(content, encoding === "utf-8" ? "utf8" : "base64");
  }

  #filesOf(files: AgentFiles): string[] {
    const { paths, more } = files.walk("/", this.#limits.files);
    if (!more) return paths;
    throw new FileError(
      "too_many_files",
      `There are more than ${this.#limits.files} files: too many to run commands on.`,
    );
  }

  /**
   * Removes leftovers of earlier commands that would be in the way or be written through:
   * processes, links, pipes, hard links, and other files in place of the agent's directories.
   */
  async #clear(): Promise<void> {
    const places = this.#places();
    const work = [NAMES, SCRIPT].map((path) => quoted(this.root + path)).join(" ");
    await this.#shell(
      `${endProcesses(this.mark)}; rm -rf -- ${work}
for place in ${places}; do if [ -L "$place" ] || ! [ -d "$place" ]; then rm -rf -- "$place"; fi; done
mkdir -p ${quoted(`${this.root}/tmp`)} ${places} && find ${places} ! -type d \\( ! -type f -o -links +1 \\) -delete`,
    );
  }

  async #list(): Promise<Listing> {
    const { entries, hashes } = listingCommands(this.#places());
    return toListing(
      { entries: await this.#shell(entries), hashes: await this.#shell(hashes) },
      this.root,
    );
  }

  readonly #places = (): string => PLACES.map((place) => quoted(this.root + place)).join(" ");

  /** Runs a command over paths, passed in a file because a command line has a maximum length. */
  async #forEach(command: string, paths: readonly string[]): Promise<void> {
    if (paths.length === 0) return;
    const names = new TextEncoder().encode(paths.map((path) => `${this.root}${path}\0`).join(""));
    await this.write(NAMES, names);
    const file = quoted(this.root + NAMES);
    await this.#shell(`xargs -0 -r ${command} < ${file}; rm -f ${file}`);
  }

  async #shell(command: string): Promise<string> {
    const { exitCode, stdout, stderr } = await this.#sandbox.exec(command);
    if (exitCode !== 0)
      throw new Error(
        `The sandbox failed to prepare files (exit code ${exitCode}): ${stderr.slice(0, 500)}`,
      );
    return stdout;
  }
}

/**
 * Records refusals of the agent's files; returns whether the change was accepted. Other errors are
 * faults of ours.
 */
async function noting(problems: string[], change: () => void | Promise<void>): Promise<boolean> {
  try {
    await change();
    return true;
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    problems.push(`${error.message} What the command did there was not kept.`);
    return false;
  }
}

/** These directories and all their parents. */
function withAbove(directories: readonly string[]): Set<string> {
  const all = new Set<string>();
  for (const directory of directories)
    for (let path = directory; path !== "" && !all.has(path); path = parentOf(path)) all.add(path);
  return all;
}

const parentOf = (path: string): string => path.slice(0, path.lastIndexOf("/"));

/**
 * All entries below an agent's directories in a sandbox, by the agent's paths. `others` are neither
 * files nor directories.
 */
type Listing = {
  files: ReadonlyMap<string, SandboxFile>;
  directories: ReadonlySet<string>;
  others: readonly string[];
};

type SandboxFile = { hash: string; size: number; executable: boolean };

const OWNER_MAY_RUN = 0o100;

/**
 * Commands that list the entries below these directories, for `toListing`. `places` must be quoted.
 */
const listingCommands = (places: string): { entries: string; hashes: string } => ({
  entries: `find ${places} -printf '%y %m %s %p\\0'`,
  hashes: `find ${places} -type f -print0 | xargs -0 -r sha256sum -z --`,
});

/** Parses the output of the commands; the agent's directories are below `root`. */
function toListing(printed: { entries: string; hashes: string }, root: string): Listing {
  const known = (path: string): string => path.slice(root.length);
  // "{64 hex digits}  {path}"
  const hashes = new Map(
    partsOf(printed.hashes).map((line) => [line.slice(66), line.slice(0, 64)]),
  );
  const files = new Map<string, SandboxFile>();
  const directories = new Set<string>();
  const others: string[] = [];
  for (const line of partsOf(printed.entries)) {
    const [, kind, mode = "", size, path = ""] = /^(.) (\d+) (\d+) (.*)$/s.exec(line) ?? [];
    const hash = hashes.get(path);
    if (kind === "d") directories.add(known(path));
    else if (kind !== "f") others.push(known(path));
    else if (hash !== undefined)
      files.set(known(path), {
        hash,
        size: Number(size),
        executable: (Number.parseInt(mode, 8) & OWNER_MAY_RUN) !== 0,
      });
  }
  return { files, directories, others };
}

const partsOf = (text: string): string[] => text.split("\0").filter((part) => part !== "");
