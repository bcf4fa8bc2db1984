import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { runAt, type TerminalUser } from "../commands/terminal";
import { hashOfText } from "./contract-service";

/** A folder that is pushed to a service and pulled from it, by the command line. */
export class LinkedFolder {
  private constructor(
    readonly root: string,
    readonly server: string,
  ) {}

  static async create(server: string): Promise<LinkedFolder> {
    return new LinkedFolder(await mkdtemp(path.join(tmpdir(), "linked-")), server);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.root, { recursive: true, force: true });
  }

  /** Writes these files. `null` deletes a file, and folders that become empty. */
  async edit(files: Readonly<Record<string, string | null>>): Promise<void> {
    for (const [name, text] of Object.entries(files)) {
      const file = path.join(this.root, name);
      if (text === null) await rm(file, { force: true });
      else {
        await mkdir(path.dirname(file), { recursive: true });
        await writeFile(file, text);
      }
    }
  }

  /** Replaces all files by these. */
  async replace(files: Readonly<Record<string, string>>): Promise<void> {
    for (const name of await readdir(this.root))
      if (name !== ".massgen-edge")
        await rm(path.join(this.root, name), { recursive: true, force: true });
    await this.edit(files);
  }

  /** All files, except those of this program. */
  async files(): Promise<Record<string, string>> {
    const entries = await readdir(this.root, { recursive: true, withFileTypes: true });
    const files: Record<string, string> = {};
    for (const entry of entries) {
      const name = path.relative(this.root, path.join(entry.parentPath, entry.name));
      if (entry.isFile() && !name.startsWith(".massgen-edge/"))
        files[name] = await readFile(path.join(this.root, name), "utf8");
    }
    return Object.fromEntries(Object.entries(files).sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  async note(): Promise<Record<string, unknown>> {
    return JSON.parse(await readFile(path.join(this.root, ".massgen-edge/context.json"), "utf8"));
  }

  /** Pushes the folder as the context `site`. */
  async push(...args: string[]) {
    for (const text of Object.values(await this.files())) hashOfText(text);
    return this.run("push", "--name", "site", ...args);
  }

  pull(session: string, turn: number, ...args: string[]) {
    return this.run("pull", "--session", session, "--turn", String(turn), ...args);
  }

  run(...args: string[]) {
    return this.at({}, ...args);
  }

  /** Runs a command. `keys`: the keys that the user presses at the terminal. */
  at({ keys }: Pick<TerminalUser, "keys">, ...args: string[]) {
    const user = { cwd: this.root, ...(keys === undefined ? {} : { keys }) };
    return runAt(user, ...args, "--server", this.server);
  }
}
