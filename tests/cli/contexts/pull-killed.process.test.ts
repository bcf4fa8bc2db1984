import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, it } from "vitest";
import { hashOf } from "../../../cli/contexts/scan";
import { SESSION } from "../../protocol/builders";
import { Ask } from "../ask-process";
import { Service } from "../service";
import { withTurn } from "./offered";
import { turnChangeBlobPath } from "../../../src/protocol/paths";

it("the next pull completes one that was killed between deleting a file and writing the folder in its place", async () => {
  const here = await mkdtemp(path.join(tmpdir(), "killed-"));
  const answers = withTurn({ a: "old", b: "b" }, { a: null, "a/x": "new", b: "better" });
  const held = turnChangeBlobPath(SESSION, 1, hashOf(Buffer.from("new")));
  await using service = await Service.start({ events: [], answers, hangs: [held] });
  await Promise.all(
    Object.entries({ a: "old", b: "b" }).map(([file, text]) =>
      writeFile(path.join(here, file), text),
    ),
  );
  const pull = () => {
    const args = [
      "pull",
      here,
      "--server",
      service.url,
      "--session",
      SESSION,
      "--turn",
      "1",
      "--apply",
    ];
    return new Ask(args);
  };

  const killed = pull();
  while (!service.requests.some((request) => request.path === held))
    await new Promise((resolve) => setTimeout(resolve, 20));
  expect(await readdir(here)).toEqual(["b"]);
  killed.kill();
  expect(await killed.ended()).toBe(null);

  service.options.hangs = [];
  const next = pull();
  expect([await next.ended(), next.stdout]).toEqual([0, "write\ta/x\n"]);
  expect([
    await readFile(path.join(here, "a/x"), "utf8"),
    await readFile(path.join(here, "b"), "utf8"),
  ]).toEqual(["new", "better"]);
  await rm(here, { recursive: true });
});
