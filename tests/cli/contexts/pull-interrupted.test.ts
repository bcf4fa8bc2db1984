import { stat } from "node:fs/promises";
import path from "node:path";
import { expect, it } from "vitest";
import { hashOf } from "../../../cli/contexts/scan";
import { contextFilePath, turnChangeBlobPath } from "../../../src/protocol/paths";
import { SESSION } from "../../protocol/builders";
import { runAt } from "../commands/terminal";
import { Service } from "../service";
import { type Answers, versionOf, withTurn } from "./offered";
import { OF_TURN, PullFolder } from "./pull-folder";

/**
 * Pulls of a turn that changed the contents of one file and only the executable bit of another. The
 * contents of the second file do not show whether the pull came to it.
 */

const folder = new PullFolder();
const BEFORE = { "a.txt": "a", "run.sh": "echo" };
const ANSWERS = withTurn(BEFORE, { "a.txt": "a1", "run.sh": "echo" }, ["run.sh"]);

/** Pulls while the contents at this path cannot be read, and then again. */
async function pullTwice(unreadable: string) {
  const failing: Answers = { ...ANSWERS };
  delete failing[unreadable];
  await folder.fill(BEFORE);
  await using service = await Service.start({ events: [], answers: failing });
  const pull = () =>
    runAt({ cwd: folder.root }, "pull", "--server", service.url, ...OF_TURN, "--apply");
  await expect(pull()).rejects.toThrow();
  service.options.answers = ANSWERS;
  return await pull();
}

it.each([
  {
    name: "before its first change",
    unreadable: turnChangeBlobPath(SESSION, 1, hashOf(Buffer.from("a1"))),
    left: "write\ta.txt\nwrite\trun.sh\n",
  },
  {
    name: "before it set the bit",
    unreadable: `${contextFilePath("site", "run.sh")}?version=${versionOf(0)}`,
    left: "write\trun.sh\n",
  },
])("a pull that failed $name is completed by the next pull", async ({ unreadable, left }) => {
  const second = await pullTwice(unreadable);
  expect([second.code, second.stdout]).toEqual([0, left]);
  expect(await folder.files()).toEqual({ "a.txt": "a1", "run.sh": "echo" });
  const { mode } = await stat(path.join(folder.root, "run.sh"));
  expect(mode & 0o100).not.toBe(0);
});
