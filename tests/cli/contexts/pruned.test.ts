import { mkdtemp, readdir, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, it } from "vitest";
import { sha256 } from "../../../local/sha256";
import { writeNote } from "../../../cli/contexts/note";
import { runAt } from "../commands/terminal";
import { Service } from "../service";

const versionId = (letter: string) => `01kb${letter.repeat(22)}`;
const file = (name: string, text: string) => ({
  path: name,
  sha256: sha256(text),
  size: text.length,
});

it("pull overwrites and deletes nothing if the version of the folder was pruned", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "pruned-"));
  for (const name of ["same", "differs", "deleted-there"])
    await writeFile(path.join(folder, name), name);
  const context = {
    name: "site",
    version: versionId("b"),
    files: 3,
    bytes: 12,
    created_at: 1,
    links: { context: "/api/contexts/site", archive: "/api/contexts/site/archive.zip" },
    tree: [file("differs", "theirs"), file("made-there", "new"), file("same", "same")],
  };
  const files = "/api/contexts/site/files";
  const version = `version=${versionId("b")}`;
  await using service = await Service.start({
    events: [],
    answers: {
      "/api/contexts/site": { status: 200, body: context },
      [`${files}/made-there?${version}`]: {
        status: 200,
        type: "application/octet-stream",
        body: "new",
      },
    },
  });
  await writeNote(folder, { server: service.url, name: "site", version: versionId("a") });
  const pulled = await runAt(
    { cwd: folder },
    "pull",
    "--server",
    service.url,
    "--apply",
    "--skip-conflicts",
  );
  expect(service.requests.map(({ path: requestPath }) => requestPath)).toContain(
    `/api/contexts/site?version=${versionId("a")}`,
  );
  expect([pulled.code, pulled.stdout]).toEqual([
    1,
    "conflict\tdiffers\tmade on both sides, with different contents\nwrite\tmade-there\n",
  ]);
  expect(pulled.screen).toContain("no longer has the version of the last push or pull");
  expect((await readdir(folder)).filter((name) => !name.startsWith("."))).toEqual([
    "deleted-there",
    "differs",
    "made-there",
    "same",
  ]);
  expect(await readFile(path.join(folder, "differs"), "utf8")).toBe("differs");
});
