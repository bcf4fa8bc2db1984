import type { AgentFiles } from "../../workspace/agent-files";
import { FileError } from "../../workspace/types";
import { fromBytes, toBytes } from "./encoding";
import type { SandboxClient } from "./sandbox-client";

/** The places of an agent's files, which the sandbox has below its root. */
const PLACES = ["/workspace", "/peers", "/contexts"];
/** Outside of them, so that nothing of an agent can be in the way. */
const NAMES = "/tmp/.agent-names";

/** What commands need of it. */
export type RunningSandbox = Pick<SandboxClient, "exec" | "writeFile" | "readFile">;

export type SandboxLimits = {
  /** Files an agent may have to work on there. */
  files: number;
  /** Bytes of a file that is taken back. */
  fileBytes: number;
};

/** Files in a sandbox, by the path the agent knows. */
type Listing = { hashes: ReadonlyMap<string, string>; executable: ReadonlySet<string>; tooLarge: ReadonlySet<string> };

/**
 * Carries an agent's files into a sandbox and what became of them back. Only what differs is carried, told by hashes: a sandbox that
 * still holds the files of the last command gets next to nothing. A file that is carried there counts as read.
 */
export class SandboxFiles {
  readonly #sandbox: RunningSandbox;
  readonly #limits: SandboxLimits;
  /** Where the places lie in the container; "" for its root. */
  readonly root: string;

  constructor(sandbox: RunningSandbox, root: string, limits: SandboxLimits) {
    this.#sandbox = sandbox;
    this.#limits = limits;
    this.root = root;
  }

  /** Makes the sandbox hold exactly the agent's files. */
  async bringIn(files: AgentFiles): Promise<void> {
    await this.#shell(`mkdir -p ${["/tmp", ...PLACES].map((place) => quoted(this.root + place)).join(" ")}`);
    const there = await this.#list();
    const wanted = this.#filesOf(files);
    await this.#forEach(
      "rm -f --",
      [...there.hashes.keys()].filter((path) => !wanted.includes(path)),
    );
    const missing = wanted.filter((path) => there.hashes.get(path) !== files.stat(path).hash);
    await this.#forEach("mkdir -p --", [...new Set(missing.map(parentOf))]);
    for (const path of missing) await this.write(path, await files.read(path));
    const isRunnable = (path: string) => files.stat(path).executable;
    await this.#forEach(
      "chmod 755 --",
      wanted.filter((path) => isRunnable(path) && !there.executable.has(path)),
    );
    await this.#forEach(
      "chmod 644 --",
      wanted.filter((path) => !isRunnable(path) && there.executable.has(path)),
    );
  }

  /** Takes over what changed in the sandbox. Says what could not be kept, in words for the model. */
  async bringBack(files: AgentFiles): Promise<string[]> {
    const there = await this.#list();
    const before = this.#filesOf(files);
    const problems: string[] = [];
    const attempt = (change: () => void | Promise<void>) => noting(problems, change);
    for (const path of before) if (!there.hashes.has(path)) await attempt(() => files.remove(path));
    for (const [path, hash] of there.hashes) {
      const known = files.exists(path) ? files.stat(path) : null;
      const executable = there.executable.has(path);
      if (known?.hash === hash && known.executable === executable) continue;
      if (there.tooLarge.has(path)) problems.push(`${path} is larger than ${this.#limits.fileBytes} bytes and was not kept.`);
      else await attempt(async () => files.write(path, await this.#read(path), executable));
    }
    return problems;
  }

  async write(path: string, bytes: Uint8Array): Promise<void> {
    const { success } = await this.#sandbox.writeFile(this.root + path, fromBytes(bytes, "base64"), { encoding: "base64" });
    if (!success) throw new Error(`The sandbox did not take the file ${path}.`);
  }

  async #read(path: string): Promise<Uint8Array> {
    const { success, content, encoding } = await this.#sandbox.readFile(this.root + path, { encoding: "base64" });
    if (!success) throw new Error(`The sandbox did not give the file ${path}.`);
    return toBytes(content, encoding === "utf-8" ? "utf8" : "base64");
  }

  #filesOf(files: AgentFiles): string[] {
    const { paths, more } = files.walk("/", this.#limits.files);
    if (!more) return paths;
    throw new FileError("too_many_files", `There are more than ${this.#limits.files} files: too many to run commands on.`);
  }

  async #list(): Promise<Listing> {
    const places = PLACES.map((place) => quoted(this.root + place)).join(" ");
    const named = async (filter: string) =>
      new Set(entries(await this.#shell(`find ${places} -type f ${filter} -print0`)).map(this.#known));
    const sums = entries(await this.#shell(`find ${places} -type f -print0 | xargs -0 -r sha256sum -z --`));
    return {
      // "{64 hex digits}  {path}"
      hashes: new Map(sums.map((line) => [this.#known(line.slice(66)), line.slice(0, 64)])),
      executable: await named("-perm -u+x"),
      tooLarge: await named(`-size +${this.#limits.fileBytes}c`),
    };
  }

  readonly #known = (path: string): string => path.slice(this.root.length);

  /** Runs a command over paths: by a file with their names, since a command line is only so long. */
  async #forEach(command: string, paths: readonly string[]): Promise<void> {
    if (paths.length === 0) return;
    const names = new TextEncoder().encode(paths.map((path) => `${this.root}${path}\0`).join(""));
    await this.write(NAMES, names);
    const file = quoted(this.root + NAMES);
    await this.#shell(`xargs -0 -r ${command} < ${file}; rm -f ${file}`);
  }

  async #shell(command: string): Promise<string> {
    const { exitCode, stdout, stderr } = await this.#sandbox.exec(command);
    if (exitCode !== 0) throw new Error(`The sandbox failed to prepare files (exit code ${exitCode}): ${stderr.slice(0, 500)}`);
    return stdout;
  }
}

/** Notes what the agent's files refuse; anything else is a fault of ours. */
async function noting(problems: string[], change: () => void | Promise<void>): Promise<void> {
  try {
    await change();
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    problems.push(`${error.message} What the command did there was not kept.`);
  }
}

const entries = (text: string): string[] => text.split("\0").filter((entry) => entry !== "");
const parentOf = (path: string): string => path.slice(0, path.lastIndexOf("/"));
export const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
