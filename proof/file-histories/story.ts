import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { CliError } from "../../cli/exit-codes";
import { runAt } from "../../tests/cli/commands/terminal";
import { InProcessService } from "./in-process-service";
import type { Files } from "./paths";
import type { AskOutcome } from "./world";

/** Changes of files: `null` deletes a file. */
type Edits = Readonly<Record<string, string | null>>;
/** What a command printed, with the message of its error. */
type Output = { text: string; isRefused: boolean };

/**
 * A story with named folders, the real command line and the service in this process:
 * one session whose team changes the context `site`.
 */
export class Story {
  readonly service = new InProcessService([["site"]]);

  private constructor(readonly root: string) {}

  static async begin(): Promise<Story> {
    const story = new Story(await mkdtemp(path.join(tmpdir(), "story-")));
    await story.service.start();
    return story;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.service.close();
    await rm(this.root, { recursive: true, force: true });
  }

  get session(): string {
    return this.service.idOf(0);
  }

  place(folder: string, ...names: string[]): string {
    return path.join(this.root, folder, ...names);
  }

  async edit(folder: string, edits: Edits): Promise<void> {
    await mkdir(this.place(folder), { recursive: true });
    for (const [name, text] of Object.entries(edits)) {
      const file = this.place(folder, name);
      await mkdir(path.dirname(file), { recursive: true });
      if (text === null) await rm(file, { force: true });
      else await writeFile(file, text);
    }
  }

  /** All files of a folder, except those of git and of this program. */
  async files(folder: string): Promise<Files> {
    const root = this.place(folder);
    const entries = await readdir(root, { recursive: true, withFileTypes: true });
    const names = entries
      .filter((entry) => entry.isFile())
      .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)))
      .filter((name) => !/^\.(massgen-edge|git)\//.test(name))
      .sort();
    const texts = names.map(
      async (name) => [name, await readFile(path.join(root, name), "utf8")] as const,
    );
    return Object.fromEntries(await Promise.all(texts));
  }

  /** Runs a command in a folder. Its error is a part of what it printed. */
  async run(folder: string, ...args: string[]): Promise<Output> {
    await mkdir(this.place(folder), { recursive: true });
    const user = { cwd: this.place(folder), home: this.root };
    try {
      const { stdout, screen } = await runAt(user, ...args, "--server", this.service.url);
      return { text: stdout + screen, isRefused: false };
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      return { text: error.message, isRefused: true };
    }
  }

  push = (folder: string, ...args: string[]) => this.run(folder, "push", "--name", "site", ...args);

  /** Pulls the newest version. */
  pull = (folder: string, ...args: string[]) =>
    this.run(folder, "pull", "--name", "site", "--apply", ...args);

  pullTurn = (folder: string, turn: number, ...args: string[]) =>
    this.pull(folder, "--session", this.session, "--turn", String(turn), ...args);

  /** A turn that continues the turn `parent`; 0 is none. */
  ask(parent: number, edits: Edits = {}): Promise<AskOutcome> {
    return this.service.ask({
      ...{ session: 0, parent, ends: "completed" },
      edits: Object.entries(edits).map(([name, contents]) => ({
        ...{ context: "site", path: name, contents },
      })),
    });
  }

  /** The state of the context after a turn, or the paths that refused the turn. */
  async asked(parent: number, edits: Edits = {}): Promise<Files | readonly string[]> {
    const outcome = await this.ask(parent, edits);
    if (outcome.outcome === "started") return outcome.ends?.get("site") ?? {};
    return outcome.outcome === "refused" ? (outcome.conflicts.get("site") ?? []) : [];
  }

  newest = (): Promise<Files | null> => this.service.newest("site");
}
