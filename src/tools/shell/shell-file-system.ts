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

/**
 * Error codes of Node and their messages. The shell's commands convert them to their own messages.
 */
const ERROR_MESSAGES = {
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
 * A failed file operation, with a message in Node's format. For some redirections, the shell throws
 * this error to its caller.
 */
export class ShellFileError extends Error {
  constructor(errno: keyof typeof ERROR_MESSAGES, operation: string, path: string) {
    super(`${errno}: ${ERROR_MESSAGES[errno]}, ${operation} '${path}'`);
  }
}

const fsError = (errno: keyof typeof ERROR_MESSAGES, operation: string, path: string): Error =>
  new ShellFileError(errno, operation, path);

/** The agent's files, the scratch directory, and the counters of a command's work. */
type FileSystemParts = {
  files: AgentFiles;
  scratch: IFileSystem;
  meter: StepMeter;
  work: ShellWork;
};

/**
 * The shell's file system. The agent's files are at `/workspace`, `/peers`, `/contexts`,
 * `/attempts` and `/turns`, which is not listed in `/`. `/tmp` and `/dev` are scratch directories
 * that exist until the command ends. Other paths are read-only. Links are refused, all files have
 * the same time, and of a file's mode only the executable bit is stored.
 */
export class ShellFileSystem implements IFileSystem {
  /**
   * Refusals of file operations, as text for the model. Commands print only "permission denied".
   */
  readonly refusals: string[] = [];
  readonly #files: AgentFiles;
  readonly #scratch: IFileSystem;
  readonly #meter: StepMeter;
  readonly #work: ShellWork;
  readonly #time: Date;

  /** `now` is the time of all files, in Unix ms. */
  constructor({ files, scratch, meter, work }: FileSystemParts, now: number) {
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
    if (isDevNull(path)) return new Uint8Array();
    const { isDirectory } = await this.stat(path);
    if (isDirectory) throw fsError("EISDIR", "read", path);
    const bytes = await this.#run(
      "open",
      path,
      (files) => this.#meter.waiting(() => files.read(path)),
      (scratch) => scratch.readFileBuffer(path),
    );
    this.#meter.read(bytes.byteLength);
    await this.#breathe(); // the command will process these bytes in one step
    return bytes;
  }

  async writeFile(path: string, content: FileContent, option?: EncodingOption): Promise<void> {
    if (isDevNull(path)) return;
    await this.#breathe(); // the command has just computed these bytes in one step
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
    if (isDevNull(path)) return;
    // An empty file is not read, because a read is recorded as an access. Redirections append to
    // files that they have just emptied.
    if (!(await this.exists(path)) || (await this.stat(path)).size === 0)
      return this.writeFile(path, content, option);
    const previousBytes = await this.readFileBuffer(path);
    const addedBytes = toBytes(content, option);
    const allBytes = new Uint8Array(previousBytes.length + addedBytes.length);
    allBytes.set(previousBytes);
    allBytes.set(addedBytes, previousBytes.length);
    await this.writeFile(path, allBytes);
  }

  async exists(path: string): Promise<boolean> {
    return (
      isDevNull(path) ||
      this.#run(
        "access",
        path,
        (files) => files.exists(path),
        (scratch) => scratch.exists(path),
      )
    );
  }

  async stat(path: string): Promise<FsStat> {
    if (isDevNull(path))
      return { ...this.#fileStat({ kind: "file", size: 0, executable: false }), identity: path };
    if (!(await this.exists(path))) throw fsError("ENOENT", "stat", path);
    return this.#run(
      "stat",
      path,
      // Without an identity, commands assume that any two files may be the same file. Scratch files
      // already have an identity.
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
    if (path !== "/") return names;
    // A command that visits everything below `/` must not load all earlier turns.
    return [...names.filter((name) => name !== "turns"), "tmp"].sort();
  }

  async rm(path: string, options?: RmOptions): Promise<void> {
    if (!(await this.exists(path))) {
      if (options?.force) return;
      throw fsError("ENOENT", "rm", path);
    }
    this.#refuseOutside("rm", path);
    const isNotEmpty = (await this.#isDirectory(path)) && (await this.readdir(path)).length > 0;
    if (isNotEmpty && !options?.recursive) throw fsError("ENOTEMPTY", "rm", path);
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
        (files) => files.withTree(from, () => files.copy(from, to)),
        (scratch) => scratch.cp(from, to, options),
      );
    }
    if (!isDirectory) {
      await this.writeFile(to, await this.readFileBuffer(from));
      return isExecutable(mode) ? this.chmod(to, mode) : undefined;
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
    const { isFile, mode: previousMode } = await this.stat(path);
    const executable = isExecutable(mode);
    if (!isFile || executable === isExecutable(previousMode)) return;
    const bytes = await this.readFileBuffer(path);
    await this.#run(
      "chmod",
      path,
      (files) => files.write(path, bytes, executable),
      (scratch) => scratch.chmod(path, mode),
    );
  }

  /** Times are not stored, because they would show which agent wrote a file. */
  async utimes(path: string): Promise<void> {
    await this.stat(path);
  }

  async symlink(_target: string, path: string): Promise<void> {
    throw this.#refuseLink("symlink", path);
  }

  async link(_from: string, to: string): Promise<void> {
    throw this.#refuseLink("link", to);
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

  /**
   * The shell may use these paths for globbing. If there are none, it lists directories instead.
   */
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

  #refuseLink(operation: string, path: string): Error {
    this.refusals.push("There are no links here. Copy with cp.");
    return fsError("ENOTSUP", operation, path);
  }

  /** Throws if a path is neither a path of the agent's files nor a scratch path. */
  #refuseOutside(operation: string, path: string): void {
    if (isScratch(path) || isAgentPath(path)) return;
    this.refusals.push(
      `${path} cannot be written. Write below /workspace; /tmp is there for the length of one command.`,
    );
    throw fsError("EROFS", operation, path);
  }

  /**
   * Runs an operation on the agent's files or the scratch directory, by the path. If the agent's
   * files refuse it, an error is thrown that commands understand.
   */
  async #run<T>(
    operation: string,
    path: string,
    onFiles: (files: AgentFiles) => T | Promise<T>,
    onScratch: (scratch: IFileSystem) => T | Promise<T>,
  ): Promise<T> {
    await this.#breathe();
    if (!isAgentPath(path) && path !== "/") return onScratch(this.#scratch);
    try {
      return await this.#files.withTree(path, () => onFiles(this.#files));
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      this.refusals.push(error.message);
      if (error.code === "too_much_at_once") this.#meter.stop("it wrote more than one call may");
      throw fsError("EACCES", operation, path);
    }
  }

  /** Pauses if a pause is due, so that other work can run. Then checks the time limit. */
  async #breathe(): Promise<void> {
    await this.#work.breathe();
    this.#meter.checkTime();
  }
}

const isExecutable = (mode: number): boolean => (mode & 0o111) !== 0;
const isDevNull = (path: string): boolean => path === "/dev/null";
const isScratch = (path: string): boolean => /^\/(?:tmp|dev)(?:\/|$)/.test(path);
const isAgentPath = (path: string): boolean =>
  /^\/(?:workspace|peers|contexts|attempts|turns)(?:\/|$)/.test(path);
const parentOf = (path: string): string => path.slice(0, path.lastIndexOf("/")) || "/";
