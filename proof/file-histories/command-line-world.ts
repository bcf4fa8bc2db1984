import {
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  rmdir,
  stat,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { CliError } from "../../cli/exit-codes";
import { commandLine } from "../../cli/program";
import { ioWithoutUser } from "../../tests/cli/commands/terminal";
import type { History } from "./operations";
import type { Files } from "./paths";
import type { PushOutcome, World } from "./world";

/**
 * The service that the folders use. `idOf`: the id of a session by its number. `nameOf`: the name
 * that a context has at the service.
 */
export type HistoryService = Pick<World, "ask" | "newest" | "kill"> & {
  readonly url: string;
  idOf(session: number): string;
  nameOf(context: string): string;
  /**
   * Runs `act` after the next push is stored and before it is answered; `null` ends this. Omitted:
   * not possible.
   */
  beforePushAnswer?(act: (() => Promise<void>) | null): void;
  /** Runs `act` before contents of a file are sent; `null` ends this. Omitted: not possible. */
  beforeContents?(act: (() => Promise<void>) | null): void;
  close(): Promise<void>;
};

/** Folders on the disk, and the real command line with a service. */
export class CommandLineWorld implements World {
  readonly ask: World["ask"];
  readonly newest: World["newest"];
  readonly kill: World["kill"];

  private constructor(
    private readonly contexts: readonly string[],
    private readonly service: HistoryService,
    private readonly root: string,
  ) {
    this.ask = (ask) => service.ask(ask);
    this.newest = (context) => service.newest(context);
    this.kill = () => service.kill();
  }

  static async create(
    { folders }: Pick<History, "folders">,
    service: HistoryService,
  ): Promise<CommandLineWorld> {
    const root = await mkdtemp(path.join(tmpdir(), "history-"));
    const world = new CommandLineWorld(folders, service, root);
    for (const index of folders.keys()) await mkdir(world.#folder(index));
    return world;
  }

  #folder(index: number): string {
    return path.join(this.root, String(index));
  }

  #context(folder: number): string {
    return this.service.nameOf(this.contexts[folder] ?? "");
  }

  async write(folder: number, name: string, contents: string | null): Promise<void> {
    const file = path.join(this.#folder(folder), name);
    if (contents === null) {
      await rm(file, { force: true }).catch(() => undefined); // a parent may be a file
      await removeEmptyFolders(this.#folder(folder), path.dirname(name));
      return;
    }
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, contents);
  }

  /** A kill is played by putting the folder's notes back as they were before the answer. */
  async push(folder: number, { isKilled, ...options }: Parameters<World["push"]>[1]) {
    const notes = path.join(this.#folder(folder), ".massgen-edge");
    const kept = `${this.#folder(folder)}.notes`;
    if (isKilled)
      this.service.beforePushAnswer?.(() => cp(notes, kept, { recursive: true, force: true }));
    const outcome = await this.#push(folder, options);
    this.service.beforePushAnswer?.(null);
    await restore(kept, notes);
    return outcome;
  }

  async #push(folder: number, { included }: { included?: string }): Promise<PushOutcome> {
    const args = [
      ...["push", "--name", this.#context(folder)],
      ...(included === undefined ? [] : ["--include", included]),
    ];
    const { stdout, error } = await this.#run(folder, args);
    if (stdout.includes("is pushed")) return { status: "committed" };
    if (stdout.includes("is unchanged")) return { status: "unchanged" };
    if (/context_changed|A pull skipped these files/.test(error)) return { status: "refused" };
    if (error.includes("has no files to push")) return { status: "empty" };
    throw new Error(`push said: ${stdout}${error}`);
  }

  /** A kill is played by putting the folder's notes back as they were before the first file. */
  async pull(folder: number, { isKilled, ...options }: Parameters<World["pull"]>[1]) {
    const notes = path.join(this.#folder(folder), ".massgen-edge");
    const kept = `${this.#folder(folder)}.notes`;
    const keep = () => cp(notes, kept, { recursive: true, force: true });
    if (isKilled) this.service.beforeContents?.(keep);
    const outcome = await this.#pull(folder, options);
    this.service.beforeContents?.(null);
    await restore(kept, notes);
    return outcome;
  }

  async #pull(
    folder: number,
    { turn, skipsConflicts, included }: Omit<Parameters<World["pull"]>[1], "isKilled">,
  ) {
    const args = [
      ...["pull", "--apply", "--name", this.#context(folder)],
      ...(turn
        ? ["--session", this.service.idOf(turn.session), "--turn", String(turn.number)]
        : []),
      ...(skipsConflicts ? ["--skip-conflicts"] : []),
      ...(included === undefined ? [] : ["--include", included]),
    ];
    const { stdout, error } = await this.#run(folder, args);
    const conflicts = stdout.split("\n").flatMap((line) => {
      const [action, file] = line.split("\t");
      return action === "conflict" && file !== undefined ? [file] : [];
    });
    if (error === "") return { outcome: "pulled", conflicts } as const;
    if (error.includes("Nothing was written")) return { outcome: "stopped", conflicts } as const;
    if (/changed no context|context_not_found|Choose one/.test(error))
      return { outcome: "refused", conflicts } as const;
    throw new Error(`pull said: ${stdout}${error}`);
  }

  async files(folder: number): Promise<Files> {
    const root = this.#folder(folder);
    const entries = await readdir(root, { recursive: true, withFileTypes: true });
    const names = entries
      .filter((entry) => entry.isFile())
      .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)))
      .filter((name) => !/^\.(massgen-edge|git)\//.test(name));
    const texts = names.map(
      async (name) => [name, await readFile(path.join(root, name), "utf8")] as const,
    );
    return Object.fromEntries(await Promise.all(texts));
  }

  async close(): Promise<void> {
    await this.service.close();
    await rm(this.root, { recursive: true, force: true });
  }

  /** Runs a command without a terminal. Returns what it printed, and its error message. */
  async #run(folder: number, args: readonly string[]): Promise<{ stdout: string; error: string }> {
    let stdout = "";
    const write = (text: string): void => {
      stdout += text;
    };
    const io = { ...ioWithoutUser(this.#folder(folder)), stdout: { write } };
    const command = commandLine({ io, end: () => undefined });
    try {
      await command.parseAsync([...args, "--server", this.service.url], { from: "user" });
      return { stdout, error: "" };
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      return { stdout, error: error.message };
    }
  }
}

async function removeEmptyFolders(root: string, folder: string): Promise<void> {
  for (let parent = folder; parent !== "."; parent = path.dirname(parent)) {
    const isRemoved = await rmdir(path.join(root, parent)).then(
      () => true,
      () => false,
    );
    if (!isRemoved) return;
  }
}

/** Replaces a folder by a copy of it, if there is one. */
async function restore(copy: string, folder: string): Promise<void> {
  if ((await stat(copy).catch(() => null)) === null) return;
  await rm(folder, { recursive: true, force: true });
  await rename(copy, folder);
}
