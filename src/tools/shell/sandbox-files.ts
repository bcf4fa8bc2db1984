import type { AgentFiles } from "../../workspace/agent-files";
import { FileError } from "../../workspace/types";
import { fromBytes, toBytes } from "./encoding";
import { endProcesses, quoted, type SandboxClient } from "./sandbox-client";

/** The top directories of an agent's files. In the sandbox, they are below `root`. */
const TOP_DIRECTORIES = ["/workspace", "/peers", "/contexts", "/attempts"];
/**
 * Directories that always exist: the top directories, and each peer, context and attempt in them.
 */
const PERMANENT_DIRECTORY = /^\/(?:workspace|(?:peers|contexts|attempts)(?:\/[^/]+)?)$/;
/** A file of this class, outside the agent's directories. It contains paths for `xargs`. */
const PATH_LIST_FILE = "/tmp/.agent-names";
/** The file with the command line of the agent, outside the agent's directories. */
export const SCRIPT_FILE = "/tmp/.agent-command";

/** The operations of a sandbox that a running command needs. */
export type RunningSandbox = Pick<SandboxClient, "exec" | "writeFile" | "readFile">;

export type SandboxLimits = {
  /** Maximum number of files of an agent. */
  files: number;
  /** Maximum size in bytes of a file that is copied back. */
  fileBytes: number;
};

/**
 * Copies an agent's files into a sandbox, and changed files back. Only files with different hashes
 * are copied. So if the sandbox still has the files of the last command, almost nothing is copied.
 * A copied file counts as read by the agent.
 */
export class SandboxFiles {
  readonly #sandbox: RunningSandbox;
  readonly #limits: SandboxLimits;
  /** The directory in the container that contains the agent's directories; "" for `/`. */
  readonly root: string;
  /** The mark of the processes that commands start, see `endProcesses`. */
  readonly mark: string;

  constructor(sandbox: RunningSandbox, root: string, limits: SandboxLimits) {
    this.#sandbox = sandbox;
    this.#limits = limits;
    this.root = root;
    this.mark = `${root}/workspace`;
  }

  /**
   * Kills processes of earlier commands. After that, copies and deletes files until the sandbox
   * contains exactly the agent's files.
   */
  async copyIn(files: AgentFiles): Promise<void> {
    await this.#removeLeftovers();
    const inSandbox = await this.#list();
    const agentPaths = new Set(await this.#pathsOf(files));
    const directories = withParents([
      ...[...agentPaths].map(parentOf),
      ...files.staged().directories,
    ]);
    const surplus = [
      ...[...inSandbox.files.keys()].filter((path) => !agentPaths.has(path)),
      ...[...inSandbox.directories].filter(
        (path) => !directories.has(path) && !PERMANENT_DIRECTORY.test(path),
      ),
    ];
    await this.#runOverPaths("rm -rf --", surplus);
    await this.#runOverPaths(
      "mkdir -p --",
      [...directories].filter((path) => !inSandbox.directories.has(path)),
    );
    const missing = [...agentPaths].filter(
      (path) => inSandbox.files.get(path)?.hash !== files.stat(path).hash,
    );
    for (const path of missing) await this.write(path, await files.read(path));
    const isExecutable = (path: string) => files.stat(path).executable;
    await this.#runOverPaths(
      "chmod 755 --",
      [...agentPaths].filter(
        (path) => isExecutable(path) && !inSandbox.files.get(path)?.executable,
      ),
    );
    await this.#runOverPaths(
      "chmod 644 --",
      [...agentPaths].filter(
        (path) => !isExecutable(path) && inSandbox.files.get(path)?.executable,
      ),
    );
  }

  /** Copies changes back. Returns messages for the model about changes that are not stored. */
  async copyBack(files: AgentFiles): Promise<string[]> {
    const inSandbox = await this.#list();
    const problems = inSandbox.others.map((path) => `${path} is no plain file and was not kept.`);
    await this.#removeDeleted(files, inSandbox, problems);
    for (const [path, { hash, size, executable }] of inSandbox.files) {
      const current = files.exists(path) ? files.stat(path) : null;
      if (current?.hash === hash && current.executable === executable) continue;
      if (size > this.#limits.fileBytes)
        problems.push(`${path} is larger than ${this.#limits.fileBytes} bytes and was not kept.`);
      else
        await noteRefusal(problems, async () =>
          files.write(path, await this.#read(path), executable),
        );
    }
    const nonEmptyDirectories = new Set(
      [...inSandbox.files.keys(), ...inSandbox.directories].map(parentOf),
    );
    for (const path of inSandbox.directories)
      if (!nonEmptyDirectories.has(path) && !PERMANENT_DIRECTORY.test(path) && !files.exists(path))
        await noteRefusal(problems, () => files.makeDirectory(path));
    return problems;
  }

  /**
   * Removes the files and directories that the command has deleted. Files are removed first, so
   * that each removal is recorded. If a file cannot be removed, its directories are kept without a
   * message.
   */
  async #removeDeleted(files: AgentFiles, inSandbox: Listing, problems: string[]): Promise<void> {
    const previousPaths = await this.#pathsOf(files);
    const directories = withParents([
      ...previousPaths.map(parentOf),
      ...files.staged().directories,
    ]);
    const notRemoved: string[] = [];
    for (const path of previousPaths)
      if (!inSandbox.files.has(path) && !(await noteRefusal(problems, () => files.remove(path))))
        notRemoved.push(path);
    const keptDirectories = withParents(notRemoved.map(parentOf));
    // In sorted order, a directory comes before its contents and is removed together with them.
    for (const path of [...directories].sort())
      if (
        !inSandbox.directories.has(path) &&
        !PERMANENT_DIRECTORY.test(path) &&
        !keptDirectories.has(path) &&
        files.exists(path)
      )
        await noteRefusal(problems, () => files.remove(path));
  }

  /** Writes a file in the sandbox. */
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

  /** The files that a command sees. Earlier turns are not copied, and do not count. */
  async #pathsOf(files: AgentFiles): Promise<string[]> {
    const { paths, more } = await files.walk("/", this.#limits.files);
    if (!more) return paths;
    throw new FileError(
      "too_many_files",
      `There are more than ${this.#limits.files} files: too many to run commands on.`,
    );
  }

  /**
   * Removes what earlier commands have left and what could redirect or block a write: processes,
   * links, pipes, hard links, and files in place of the agent's directories.
   */
  async #removeLeftovers(): Promise<void> {
    const places = this.#quotedDirectories();
    const ownFiles = [PATH_LIST_FILE, SCRIPT_FILE]
      .map((path) => quoted(this.root + path))
      .join(" ");
    await this.#exec(
      `${endProcesses(this.mark)}; rm -rf -- ${ownFiles}
for place in ${places}; do if [ -L "$place" ] || ! [ -d "$place" ]; then rm -rf -- "$place"; fi; done
mkdir -p ${quoted(`${this.root}/tmp`)} ${places} && find ${places} ! -type d \\( ! -type f -o -links +1 \\) -delete`,
    );
  }

  async #list(): Promise<Listing> {
    const { entries, hashes } = listingCommands(this.#quotedDirectories());
    return toListing(
      { entries: await this.#exec(entries), hashes: await this.#exec(hashes) },
      this.root,
    );
  }

  readonly #quotedDirectories = (): string =>
    TOP_DIRECTORIES.map((place) => quoted(this.root + place)).join(" ");

  /**
   * Runs a command with these paths as arguments. The paths are in a file, because a command line
   * has a maximum length.
   */
  async #runOverPaths(command: string, paths: readonly string[]): Promise<void> {
    if (paths.length === 0) return;
    const names = new TextEncoder().encode(paths.map((path) => `${this.root}${path}\0`).join(""));
    await this.write(PATH_LIST_FILE, names);
    const file = quoted(this.root + PATH_LIST_FILE);
    await this.#exec(`xargs -0 -r ${command} < ${file}; rm -f ${file}`);
  }

  async #exec(command: string): Promise<string> {
    const { exitCode, stdout, stderr } = await this.#sandbox.exec(command);
    if (exitCode !== 0)
      throw new Error(
        `The sandbox failed to prepare files (exit code ${exitCode}): ${stderr.slice(0, 500)}`,
      );
    return stdout;
  }
}

/**
 * Makes a change and returns whether it was accepted. If the agent's files refuse it, the refusal
 * is added to `problems`. Other errors are thrown.
 */
async function noteRefusal(
  problems: string[],
  change: () => void | Promise<void>,
): Promise<boolean> {
  try {
    await change();
    return true;
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    problems.push(`${error.message} What the command did there was not kept.`);
    return false;
  }
}

/** The directories and all their parents. */
function withParents(directories: readonly string[]): Set<string> {
  const all = new Set<string>();
  for (const directory of directories)
    for (let path = directory; path !== "" && !all.has(path); path = parentOf(path)) all.add(path);
  return all;
}

const parentOf = (path: string): string => path.slice(0, path.lastIndexOf("/"));

/**
 * All entries of the agent's directories in a sandbox, with the agent's paths. `others` are entries
 * that are neither files nor directories, such as links.
 */
type Listing = {
  files: ReadonlyMap<string, SandboxFile>;
  directories: ReadonlySet<string>;
  others: readonly string[];
};

type SandboxFile = { hash: string; size: number; executable: boolean };

const OWNER_EXECUTE_BIT = 0o100;

/**
 * Two commands whose output `toListing` parses. `places` are the directories to list, quoted for
 * the shell.
 */
const listingCommands = (places: string): { entries: string; hashes: string } => ({
  entries: `find ${places} -printf '%y %m %s %p\\0'`,
  hashes: `find ${places} -type f -print0 | xargs -0 -r sha256sum -z --`,
});

/** Parses the output of `listingCommands`. The agent's directories are below `root`. */
function toListing(output: { entries: string; hashes: string }, root: string): Listing {
  const agentPath = (path: string): string => path.slice(root.length);
  // A line is "{64 hex digits}  {path}".
  const hashes = new Map(
    splitAtNul(output.hashes).map((line) => [line.slice(66), line.slice(0, 64)]),
  );
  const files = new Map<string, SandboxFile>();
  const directories = new Set<string>();
  const others: string[] = [];
  for (const line of splitAtNul(output.entries)) {
    const [, kind, mode = "", size, path = ""] = /^(.) (\d+) (\d+) (.*)$/s.exec(line) ?? [];
    const hash = hashes.get(path);
    if (kind === "d") directories.add(agentPath(path));
    else if (kind !== "f") others.push(agentPath(path));
    else if (hash !== undefined)
      files.set(agentPath(path), {
        hash,
        size: Number(size),
        executable: (Number.parseInt(mode, 8) & OWNER_EXECUTE_BIT) !== 0,
      });
  }
  return { files, directories, others };
}

const splitAtNul = (text: string): string[] => text.split("\0").filter((part) => part !== "");
