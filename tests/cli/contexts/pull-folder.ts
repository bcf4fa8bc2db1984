import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach } from "vitest";
import { SESSION } from "../../protocol/builders";
import { runAt } from "../commands/terminal";
import { Service } from "../service";
import type { Answers, Files } from "./offered";

/** The options of a pull of the first turn. */
export const OF_TURN = ["--session", SESSION, "--turn", "1"];

/** A folder that `pull` writes into. It is empty at the start of each test. */
export class PullFolder {
  root = "";

  constructor() {
    beforeEach(async () => {
      this.root = await mkdtemp(path.join(tmpdir(), "pull-"));
    });
    afterEach(() => rm(this.root, { recursive: true, force: true }));
  }

  async fill(files: Files): Promise<void> {
    for (const [name, content] of Object.entries(files)) {
      await mkdir(path.dirname(path.join(this.root, name)), { recursive: true });
      await writeFile(path.join(this.root, name), content);
    }
  }

  /** All files, except the note of the last pull and the files of git. */
  async files(): Promise<Files> {
    const entries = await readdir(this.root, { recursive: true, withFileTypes: true });
    const names = entries
      .filter((entry) => entry.isFile())
      .map((entry) => path.relative(this.root, path.join(entry.parentPath, entry.name)));
    const pulledNames = names
      .filter((name) => !name.startsWith(".massgen-edge/") && !name.startsWith(".git/"))
      .sort();
    return Object.fromEntries(
      await Promise.all(
        pulledNames.map(
          async (name) => [name, await readFile(path.join(this.root, name), "utf8")] as const,
        ),
      ),
    );
  }

  /**
   * Runs `pull` in the folder, with a service that sends these responses. Also returns the lines on
   * the screen, and the paths of the requests.
   */
  async pull(answers: Answers, ...args: string[]) {
    await using service = await Service.start({ events: [], answers });
    const result = await runAt({ cwd: this.root }, "pull", "--server", service.url, ...args);
    const requestedPaths = service.requests.map((request) => decodeURIComponent(request.path));
    return { ...result, screenLines: result.screen.trimEnd().split("\n"), requestedPaths };
  }
}
