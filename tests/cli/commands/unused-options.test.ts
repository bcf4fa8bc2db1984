import { expect, it } from "vitest";
import { SESSION } from "../../protocol/builders";
import { runAt } from "./terminal";

/** An option that would have no effect is refused before any request. */

it.each([
  { command: "pull --turn 1 --apply", says: "--turn needs --session" },
  { command: "pull --skip-conflicts", says: "--skip-conflicts needs --apply" },
  { command: "pull --skip-conflicts --patch", says: "--skip-conflicts needs --apply" },
  { command: `files ${SESSION} --include .npmrc`, says: "--include needs --save" },
  { command: `files ${SESSION} --dry-run`, says: "--dry-run needs --save" },
  { command: `files ${SESSION} --skip-conflicts`, says: "--skip-conflicts needs --save" },
  { command: "ask --conflicts turn question", says: "--conflicts names the side that wins" },
])("$command is refused: $says", async ({ command, says }) => {
  const run = runAt({ cwd: "." }, ...command.split(" "), "--server", "http://127.0.0.1:9");
  await expect(run).rejects.toThrow(says);
});
