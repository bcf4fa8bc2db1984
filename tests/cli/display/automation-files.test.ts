import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as b from "../../protocol/builders";
import { runAt } from "../commands/terminal";
import { Service, type ServiceOptions } from "../service";

let home = "";
beforeEach(async () => {
  home = await mkdtemp(path.join(tmpdir(), "automation-"));
});
afterEach(() => rm(home, { recursive: true }));

const TURN = `/api/sessions/${b.SESSION}/turns/1`;
const HASH = "a".repeat(64);
const FILES = {
  status: 200,
  body: {
    ...{ object: "list", label: "agent1.final", attempt: 1 },
    data: [{ path: "a.txt", sha256: HASH, size: 1 }],
  },
};
const changes = (paths: readonly string[]) => ({
  status: 200,
  body: {
    object: "list",
    data: [
      {
        context: "site",
        base_version: "0".repeat(26),
        changes: paths.map((name) => ({ path: name, hash: HASH, size: 1 })),
      },
    ],
  },
});

/** The lines of --automation that name files. */
async function fileLines(answers: ServiceOptions["answers"] = {}) {
  await using service = await Service.start({ events: b.log(b.story), answers });
  const args = ["ask", "--automation", "why?", "--server", service.url];
  const { code, stdout } = await runAt({ cwd: home }, ...args);
  expect(code).toBe(0);
  const lines = stdout.split("\n").filter((line) => /^(FILES|CHANGES)_URL: /.test(line));
  return lines.map((line) => line.replace(service.url, ""));
}

describe("--automation", () => {
  it("names the addresses of the result's files and of changed contexts", async () => {
    const answers = { [`${TURN}/files`]: FILES, [`${TURN}/changes`]: changes(["index.html"]) };
    expect(await fileLines(answers)).toEqual([
      `FILES_URL: ${TURN}/files`,
      `CHANGES_URL: ${TURN}/changes`,
    ]);
  });

  it("has no such lines without files, without changes, or if both cannot be read", async () => {
    const noFiles = { ...FILES, body: { ...FILES.body, data: [] } };
    const answers = { [`${TURN}/files`]: noFiles, [`${TURN}/changes`]: changes([]) };
    expect(await fileLines(answers)).toEqual([]);
    expect(await fileLines()).toEqual([]);
  });
});
