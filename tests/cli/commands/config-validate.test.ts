import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Service } from "../service";
import { runAt } from "./terminal";

let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "validate-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const VALID = { runnable: true, errors: [], refusals: [], warnings: [], extra: "preserved" };

async function validate(yaml: string, ...flags: string[]) {
  await writeFile(path.join(folder, "t.yaml"), yaml);
  const answers = { "/api/configs/validate": { status: 200, body: VALID } };
  await using service = await Service.start({ events: [], answers });
  return await runAt(
    { cwd: folder },
    "config",
    "validate",
    "t.yaml",
    "--server",
    service.url,
    ...flags,
  );
}

const configWith = (...paths: string[]): string =>
  [
    "agents:",
    "  - backend:",
    "      upload_files:",
    ...paths.map((file) => `        - image_path: ${file}`),
    "",
  ].join("\n");

describe("a file in upload_files that cannot be sent (F7)", () => {
  it("is an error with its line, column and pointer, and exit code 1", async () => {
    await writeFile(path.join(folder, "a.png"), "png");
    const result = await validate(configWith("a.png", "gone.png"));
    expect(result.stdout.split("\n")).toEqual([
      expect.stringContaining("t.yaml"),
      "errors",
      expect.stringMatching(
        /^ {2}t\.yaml:5:23 {2}\/agents\/0\/backend\/upload_files\/1\/image_path {2}.*gone\.png/,
      ),
      expect.stringContaining("5 |"),
      expect.stringContaining("^"),
      "",
    ]);
    expect(result.code).toBe(1);
  });

  it("is part of the JSON output, which also contains the service's response", async () => {
    const result = await validate(configWith("gone.png"), "--json");
    expect(result.code).toBe(1);
    expect(JSON.parse(result.stdout)).toEqual({
      ...VALID,
      runnable: false,
      errors: [
        {
          pointer: "/agents/0/backend/upload_files/0/image_path",
          line: 4,
          column: 23,
          code: "upload_unreadable",
          detail: expect.stringContaining("gone.png"),
        },
      ],
    });
  });

  it.each([
    { name: "an empty file", file: "empty.txt", reason: "empty" },
    { name: "a file that may hold secrets", file: ".env", reason: "secrets" },
    { name: "a file outside the folder", file: "..", reason: "outside" },
    { name: "a folder", file: "sub", reason: "a folder" },
  ])("is reported for the same reasons as in `ask`: $name", async ({ file, reason }) => {
    await writeFile(path.join(folder, "empty.txt"), "");
    await writeFile(path.join(folder, ".env"), "KEY=1");
    await mkdir(path.join(folder, "sub"));
    const result = await validate(configWith(file));
    expect([result.code, result.stdout]).toEqual([1, expect.stringContaining(reason)]);
  });

  it("is reported once if several agents name it; too many files are one more error", async () => {
    const shared =
      "agents:\n  - backend: &b {upload_files: [gone.png]}\n  - backend: {upload_files: [gone.png]}\n";
    const twice = await validate(shared, "--json");
    expect(JSON.parse(twice.stdout).errors).toHaveLength(1);
    const names = Array.from({ length: 60 }, (_, index) => `https://x.example/${index}`);
    const many = await validate(configWith(...names), "--json");
    expect(JSON.parse(many.stdout).errors).toEqual([
      expect.objectContaining({ detail: expect.stringMatching(/\b60\b/) }),
    ]);
  });

  it("is not reported for an existing file, or for an address, which is not fetched", async () => {
    await writeFile(path.join(folder, "a.png"), "png");
    const result = await validate(configWith("a.png", "https://nowhere.invalid/b.png"));
    expect([result.code, result.stdout]).toEqual([0, expect.stringMatching(/^t\.yaml .*\n$/)]);
  });
});
