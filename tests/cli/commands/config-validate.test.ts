import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Service } from "../service";
import { runAt } from "./terminal";

let here = "";
beforeEach(async () => {
  here = await mkdtemp(path.join(tmpdir(), "validate-"));
});
afterEach(() => rm(here, { recursive: true, force: true }));

const VALID = { runnable: true, errors: [], refusals: [], warnings: [], extra: "kept" };

async function validate(yaml: string, ...flags: string[]) {
  await writeFile(path.join(here, "t.yaml"), yaml);
  const answers = { "/api/configs/validate": { status: 200, body: VALID } };
  await using service = await Service.start({ events: [], answers });
  return await runAt(
    { cwd: here },
    "config",
    "validate",
    "t.yaml",
    "--server",
    service.url,
    ...flags,
  );
}

const naming = (...paths: string[]): string =>
  [
    "agents:",
    "  - backend:",
    "      upload_files:",
    ...paths.map((one) => `        - image_path: ${one}`),
    "",
  ].join("\n");

describe("a file in upload_files that cannot be sent (F7)", () => {
  it("is an error with its line, column and pointer, and exit code 1", async () => {
    await writeFile(path.join(here, "a.png"), "png");
    const ran = await validate(naming("a.png", "gone.png"));
    expect(ran.stdout.split("\n")).toEqual([
      expect.stringContaining("t.yaml"),
      "errors",
      expect.stringMatching(
        /^ {2}t\.yaml:5:23 {2}\/agents\/0\/backend\/upload_files\/1\/image_path {2}.*gone\.png/,
      ),
      expect.stringContaining("5 |"),
      expect.stringContaining("^"),
      "",
    ]);
    expect(ran.code).toBe(1);
  });

  it("is part of the JSON output, which keeps the response of the service", async () => {
    const ran = await validate(naming("gone.png"), "--json");
    expect(ran.code).toBe(1);
    expect(JSON.parse(ran.stdout)).toEqual({
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
    { what: "an empty one", name: "empty.txt", why: "empty" },
    { what: "one that may hold secrets", name: ".env", why: "secrets" },
    { what: "one outside the folder", name: "..", why: "outside" },
    { what: "a folder", name: "sub", why: "a folder" },
  ])("is refused as `ask` refuses it: $what", async ({ name, why }) => {
    await writeFile(path.join(here, "empty.txt"), "");
    await writeFile(path.join(here, ".env"), "KEY=1");
    await mkdir(path.join(here, "sub"));
    const ran = await validate(naming(name));
    expect([ran.code, ran.stdout]).toEqual([1, expect.stringContaining(why)]);
  });

  it("is one error, however many agents name it, and one more if there are too many files", async () => {
    const shared =
      "agents:\n  - backend: &b {upload_files: [gone.png]}\n  - backend: {upload_files: [gone.png]}\n";
    const twice = await validate(shared, "--json");
    expect(JSON.parse(twice.stdout).errors).toHaveLength(1);
    const names = Array.from({ length: 60 }, (_, index) => `https://x.example/${index}`);
    const many = await validate(naming(...names), "--json");
    expect(JSON.parse(many.stdout).errors).toEqual([
      expect.objectContaining({ detail: expect.stringMatching(/\b60\b/) }),
    ]);
  });

  it("is neither an existing file nor an address, which a check does not fetch", async () => {
    await writeFile(path.join(here, "a.png"), "png");
    const ran = await validate(naming("a.png", "https://nowhere.invalid/b.png"));
    expect([ran.code, ran.stdout]).toEqual([0, expect.stringMatching(/^t\.yaml .*\n$/)]);
  });
});
