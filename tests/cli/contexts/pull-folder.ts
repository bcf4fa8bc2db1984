import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach } from "vitest";
import { SESSION } from "../../protocol/builders";
import { runAt } from "../commands/terminal";
import { Service } from "../service";
import type { Answers, Files } from "./offered";

const NOTE = ".massgen-edge/context.json";
export const OF_TURN = ["--session", SESSION, "--turn", "1"];

/** A folder that `pull` writes into. It is empty at the start of each test. */
export class PullFolder {
  at = "";

  constructor() {
    beforeEach(async () => {
      this.at = await mkdtemp(path.join(tmpdir(), "pull-"));
    });
    afterEach(() => rm(this.at, { recursive: true, force: true }));
  }

  async fill(files: Files): Promise<void> {
    for (const [name, content] of Object.entries(files)) {
      await mkdir(path.dirname(path.join(this.at, name)), { recursive: true });
      await writeFile(path.join(this.at, name), content);
    }
  }

  /** All files, without the note of the last pull and those of git. */
  async files(): Promise<Files> {
    const entries = await readdir(this.at, { recursive: true, withFileTypes: true });
    const names = entries
      .filter((entry) => entry.isFile())
      .map((entry) => path.relative(this.at, path.join(entry.parentPath, entry.name)));
    const own = names.filter((name) => name !== NOTE && !name.startsWith(".git/")).sort();
    return Object.fromEntries(
      await Promise.all(
        own.map(async (name) => [name, await readFile(path.join(this.at, name), "utf8")] as const),
      ),
    );
  }

  /** Runs `pull` in the folder, with a service that sends these responses. */
  async pull(answers: Answers, ...args: string[]) {
    await using service = await Service.start({ events: [], answers });
    const ran = await runAt({ cwd: this.at }, "pull", "--server", service.url, ...args);
    const asked = service.requests.map((request) => decodeURIComponent(request.path));
    return { ...ran, said: ran.screen.trimEnd().split("\n"), asked };
  }
}
