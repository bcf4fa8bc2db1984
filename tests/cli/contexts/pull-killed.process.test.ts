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

it("the next pull completes a pull that was killed after it deleted a file and before it wrote the folder with the same name", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "killed-"));
  const answers = withTurn({ a: "old", b: "b" }, { a: null, "a/x": "new", b: "better" });
  const heldPath = turnChangeBlobPath(SESSION, 1, hashOf(Buffer.from("new")));
  await using service = await Service.start({ events: [], answers, hangs: [heldPath] });
  await Promise.all(
    Object.entries({ a: "old", b: "b" }).map(([file, text]) =>
      writeFile(path.join(folder, file), text),
    ),
  );
  const pull = () => {
    const args = [
      "pull",
      folder,
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
  while (!service.requests.some((request) => request.path === heldPath))
    await new Promise((resolve) => setTimeout(resolve, 20));
  expect((await readdir(folder)).filter((name) => name !== ".massgen-edge")).toEqual(["b"]);
  killed.kill();
  expect(await killed.ended()).toBe(null);

  service.options.hangs = [];
  const next = pull();
  expect([await next.ended(), next.stdout]).toEqual([0, "write\ta/x\n"]);
  expect([
    await readFile(path.join(folder, "a/x"), "utf8"),
    await readFile(path.join(folder, "b"), "utf8"),
  ]).toEqual(["new", "better"]);
  await rm(folder, { recursive: true });
});
