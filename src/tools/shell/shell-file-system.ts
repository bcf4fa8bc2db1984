import type {
  CpOptions,
  FileContent,
  FsStat,
  IFileSystem,
  MkdirOptions,
  RmOptions,
} from "just-bash/browser";
import type { AgentFiles } from "../../workspace/agent-files";
import { FileError } from "../../workspace/types";
import { type EncodingOption, fromBytes, toBytes } from "./encoding";
import type { ShellWork } from "./shell-host";
import type { StepMeter } from "./step-meter";

/** Node's error codes, which the shell's commands convert to their own messages. */
const REASONS = {
  ENOENT: "no such file or directory",
  EISDIR: "illegal operation on a directory",
  ENOTDIR: "not a directory",
  EEXIST: "file already exists",
  ENOTEMPTY: "directory not empty",
  EROFS: "read-only file system",
  EACCES: "permission denied",
  ENOTSUP: "operation not supported",
  EINVAL: "invalid argument",
} as const;

/**
 * A failed file operation, in Node's format. Some redirections of the shell let it reach the
 * caller.
 */
export class ShellFileError extends Error {
  constructor(errno: keyof typeof REASONS, operation: string, path: string) {
    super(`${errno}: ${REASONS[errno]}, ${operation} '${path}'`);
  }
}

const fsError = (errno: keyof typeof REASONS, operation: string, path: string): Error =>
  new ShellFileError(errno, operation, path);

/** The agent's files, the scratch directory, and the limits of a command. */
type Parts = { files: AgentFiles; scratch: IFileSystem; meter: StepMeter; work: ShellWork };

/**
 * The shell's file system: an agent's files at `/workspace`, `/peers`, `/contexts` and `/attempts`,
 * and a scratch directory `/tmp` (and `/dev`) that ends with the command. Other paths are
 * read-only. Links are refused, all times are equal, and of a mode only the executable bit is kept.
 */
export class ShellFileSystem implements IFileSystem {
  /**
   * Refusals of the agent's files as text for the model; commands print only "permission denied".
   */
  readonly refusals: string[] = [];
  readonly #files: AgentFiles;
  readonly #scratch: IFileSystem;
  readonly #meter: StepMeter;
  readonly #work: ShellWork;
  readonly #time: Date;

  /** `now` is the time of all files, in ms. */
  constructor({ files, scratch, meter, work }: Parts, now: number) {
    this.#files = files;
    this.#scratch = scratch;
    this.#meter = meter;
    this.#work = work;
    this.#time = new Date(now);
  }

  async readFile(path: string, option?: EncodingOption): Promise<string> {
    return fromBytes(await this.readFileBuffer(path), option);
  }

  async readFileBuffer(path: string): Promise<Uint8Array> {
    if (isNothing(path)) return new Uint8Array();
    const { isDirectory } = await this.stat(path);
    if (isDirectory) throw fsError("EISDIR", "read", path);
    const bytes = await this.#run(
      "open",
      path,
      (files) => this.#meter.waiting(() => files.read(path)),
      (scratch) => scratch.readFileBuffer(path),
    );
    this.#meter.read(bytes.byteLength);
    await this.#breathe(); // the command reads it in one step
    return bytes;
  }

  async writeFile(path: string, content: FileContent, option?: EncodingOption): Promise<void> {
    if (isNothing(path)) return;
    await this.#breathe(); // the command has just computed its output
    const bytes = toBytes(content, option);
    this.#refuseOutside("open", path);
    if (await this.#isDirectory(path)) throw fsError("EISDIR", "open", path);
    this.#meter.writes(bytes.byteLength);
    await this.#run(
      "open",
      path,
      (files) => files.write(path, bytes),
      (scratch) => scratch.writeFile(path, bytes),
    );
  }

  async appendFile(path: string, content: FileContent, option?: EncodingOption): Promise<void> {
    if (isNothing(path)) return;
    // Reading an empty file would be recorded as an access; redirections append to files they have
    // just emptied.
    if (!(await this.exists(path)) || (await this.stat(path)).size === 0)
      return this.writeFile(path, content, option);
    const before = await this.readFileBuffer(path);
    const added = toBytes(content, option);
    const both = new Uint8Array(before.length + added.length);
    both.set(before);
    both.set(added, before.length);
    await this.writeFile(path, both);
  }

  async exists(path: string): Promise<boolean> {
    return (
      isNothing(path) ||
      this.#run(
        "access",
        path,
        (files) => files.exists(path),
        (scratch) => scratch.exists(path),
      )
    );
  }

  async stat(path: string): Promise<FsStat> {
    if (isNothing(path))
      return { ...this.#fileStat({ kind: "file", size: 0, executable: false }), identity: path };
    if (!(await this.exists(path))) throw fsError("ENOENT", "stat", path);
    return this.#run(
      "stat",
      path,
      // Without an identity, commands treat any two files as possibly the same. Scratch files have
      // their own.
      (files) => ({ ...this.#fileStat(files.stat(path)), identity: files.resolve(path) }),
      (scratch) => scratch.stat(path),
    );
  }

  lstat(path: string): Promise<FsStat> {
    return this.stat(path);
  }

  async mkdir(path: string, options?: MkdirOptions): Promise<void> {
    this.#refuseOutside("mkdir", path);
    if (await this.exists(path)) {
      if (options?.recursive && (await this.#isDirectory(path))) return;
      throw fsError("EEXIST", "mkdir", path);
    }
    if (!options?.recursive && !(await this.#isDirectory(parentOf(path))))
      throw fsError("ENOENT", "mkdir", path);
    await this.#run(
      "mkdir",
      path,
      (files) => files.makeDirectory(path),
      (scratch) => scratch.mkdir(path, options),
    );
  }

  async readdir(path: string): Promise<string[]> {
    if (!(await this.stat(path)).isDirectory) throw fsError("ENOTDIR", "scandir", path);
    const names = await this.#run(
      "scandir",
      path,
      (files) => files.list(path).map(({ name }) => name),
      (scratch) => scratch.readdir(path),
    );
    return path === "/" ? [...names, "tmp"].sort() : names;
  }

  async rm(path: string, options?: RmOptions): Promise<void> {
    if (!(await this.exists(path))) {
      if (options?.force) return;
      throw fsError("ENOENT", "rm", path);
    }
    this.#refuseOutside("rm", path);
    const full = (await this.#isDirectory(path)) && (await this.readdir(path)).length > 0;
    if (full && !options?.recursive) throw fsError("ENOTEMPTY", "rm", path);
    await this.#run(
      "rm",
      path,
      (files) => files.remove(path),
      (scratch) => scratch.rm(path, options),
    );
  }

  async cp(from: string, to: string, options?: CpOptions): Promise<void> {
    const { isDirectory, mode } = await this.stat(from);
    if (isDirectory && !options?.recursive) throw fsError("EISDIR", "cp", from);
    this.#refuseOutside("cp", to);
    if (isScratch(from) === isScratch(to)) {
      return this.#run(
        "cp",
        to,
        (files) => files.copy(from, to),
        (scratch) => scratch.cp(from, to, options),
      );
    }
    if (!isDirectory) {
      await this.writeFile(to, await this.readFileBuffer(from));
      return mayRun(mode) ? this.chmod(to, mode) : undefined;
    }
    await this.mkdir(to, { recursive: true });
    for (const name of await this.readdir(from))
      await this.cp(`${from}/${name}`, `${to}/${name}`, options);
  }

  async mv(from: string, to: string): Promise<void> {
    await this.stat(from);
    this.#refuseOutside("mv", from);
    this.#refuseOutside("mv", to);
    if (isScratch(from) === isScratch(to)) {
      return this.#run(
        "mv",
        to,
        (files) => files.move(from, to),
        (scratch) => scratch.mv(from, to),
      );
    }
    await this.cp(from, to, { recursive: true });
    await this.rm(from, { recursive: true });
  }

  async chmod(path: string, mode: number): Promise<void> {
    const { isFile, mode: before } = await this.stat(path);
    const executable = mayRun(mode);
    if (!isFile || executable === mayRun(before)) return;
    const bytes = await this.readFileBuffer(path);
    await this.#run(
      "chmod",
      path,
      (files) => files.write(path, bytes, executable),
      (scratch) => scratch.chmod(path, mode),
    );
  }

  /** Times are not stored: they would reveal who wrote a file. */
  async utimes(path: string): Promise<void> {
    await this.stat(path);
  }

  async symlink(_target: string, path: string): Promise<void> {
    throw this.#noLinks("symlink", path);
  }

  async link(_from: string, to: string): Promise<void> {
    throw this.#noLinks("link", to);
  }

  async readlink(path: string): Promise<string> {
    await this.stat(path);
    throw fsError("EINVAL", "readlink", path);
  }

  async realpath(path: string): Promise<string> {
    await this.stat(path);
    return this.#run(
      "realpath",
      path,
      (files) => files.resolve(path),
      (scratch) => scratch.realpath(path),
    );
  }

  resolvePath(base: string, path: string): string {
    return this.#scratch.resolvePath(base, path);
  }

  /** Optional for globbing, which otherwise lists directories. */
  getAllPaths(): string[] {
    return [];
  }

  async #isDirectory(path: string): Promise<boolean> {
    return (await this.exists(path)) && (await this.stat(path)).isDirectory;
  }

  #fileStat({
    kind,
    size,
    executable,
  }: {
    kind: "file" | "directory";
    size: number;
    executable: boolean;
  }): FsStat {
    const isDirectory = kind === "directory";
    const mode = isDirectory || executable ? 0o755 : 0o644;
    return {
      isFile: !isDirectory,
      isDirectory,
      isSymbolicLink: false,
      mode,
      size,
      mtime: this.#time,
    };
  }

  #noLinks(operation: string, path: string): Error {
    this.refusals.push("There are no links here. Copy with cp.");
    return fsError("ENOTSUP", operation, path);
  }

  #refuseOutside(operation: string, path: string): void {
    if (isScratch(path) || isAgents(path)) return;
    this.refusals.push(
      `${path} cannot be written. Write below /workspace; /tmp is there for the length of one command.`,
    );
    throw fsError("EROFS", operation, path);
  }

  /**
   * Runs the operation on the file system of the path. Refusals of the agent's files become errors
   * that commands understand.
   */
  async #run<T>(
    operation: string,
    path: string,
    onFiles: (files: AgentFiles) => T | Promise<T>,
    onScratch: (scratch: IFileSystem) => T | Promise<T>,
  ): Promise<T> {
    await this.#breathe();
    if (!isAgents(path) && path !== "/") return onScratch(this.#scratch);
    try {
      return await onFiles(this.#files);
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      this.refusals.push(error.message);
      if (error.code === "too_much_at_once") this.#meter.stop("it wrote more than one call may");
      throw fsError("EACCES", operation, path);
    }
  }

  async #breathe(): Promise<void> {
    await this.#work.breathe();
    this.#meter.checkTime();
  }
}

const mayRun = (mode: number): boolean => (mode & 0o111) !== 0;
const isNothing = (path: string): boolean => path === "/dev/null";
const isScratch = (path: string): boolean => /^\/(?:tmp|dev)(?:\/|$)/.test(path);
const isAgents = (path: string): boolean =>
  /^\/(?:workspace|peers|contexts|attempts)(?:\/|$)/.test(path);
const parentOf = (path: string): string => path.slice(0, path.lastIndexOf("/")) || "/";
