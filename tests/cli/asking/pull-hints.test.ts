import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { printPullHints } from "../../../cli/asking/pull-hints";
import type { SharedFolder } from "../../../cli/asking/shared-folders";
import { writeNote } from "../../../cli/contexts/note";
import { turnChangesPath } from "../../../src/protocol/paths";
import { SESSION } from "../../protocol/builders";
import { Service } from "../service";

let cwd = "";
beforeEach(async () => {
  cwd = await mkdtemp(path.join(tmpdir(), "hints-"));
});
afterEach(() => rm(cwd, { recursive: true, force: true }));

const SITE: SharedFolder = { typed: "./site", name: "site", permission: "write" };
const VERSION = "0".repeat(26);

type Row = {
  name: string;
  status?: "completed" | "failed" | "cancelled";
  folders?: readonly SharedFolder[];
  changed?: readonly string[];
  linked?: string;
  isLater?: boolean;
  printed: readonly string[];
};
const rows: readonly Row[] = [
  { name: "a changed folder of --with", folders: [SITE], changed: ["site"], printed: ["./site"] },
  { name: "an unchanged folder of --with", folders: [SITE], changed: [], printed: [] },
  { name: "a failed turn", status: "failed", folders: [SITE], changed: ["site"], printed: [] },
  { name: "a cancelled turn", status: "cancelled", folders: [SITE], printed: [] },
  {
    name: "a later turn in a linked folder",
    isLater: true,
    linked: "site",
    changed: ["site"],
    printed: ["."],
  },
  {
    name: "a later turn elsewhere",
    isLater: true,
    changed: ["docs"],
    printed: ["FOLDER --name docs"],
  },
  { name: "unknown changes", folders: [SITE], printed: ["./site"] },
];

it.each(rows)("after $name, the commands are $printed", async (row) => {
  const { status = "completed", folders = [], changed, linked, isLater = false, printed } = row;
  const data = changed?.map((context) => ({
    ...{ context, base_version: VERSION },
    changes: [{ path: "a", hash: null, size: 0 }],
  }));
  const unchanged = { context: "other", base_version: VERSION, changes: [] };
  const body = { object: "list", data: [...(data ?? []), unchanged] };
  const answers = data ? { [turnChangesPath(SESSION, 2)]: { status: 200, body } } : {};
  await using service = await Service.start({ events: [], answers });
  if (linked) await writeNote(cwd, { server: service.url, name: linked, version: VERSION });
  let screen = "";
  const stderr = {
    write: (text: string) => {
      screen += text;
    },
  };
  const turn = { status };
  const place = { sessionId: SESSION, turn: 2 };
  await printPullHints({ place, turn, folders, isLater }, { server: service.url }, { stderr, cwd });
  const end = `--session ${SESSION} --turn 2 --apply --server ${service.url}`;
  expect(screen).toBe(
    printed.map((words) => `pull    npm run ask -- pull ${words} ${end}\n`).join(""),
  );
});
