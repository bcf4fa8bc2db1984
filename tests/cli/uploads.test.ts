import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { chooseTeam } from "../../cli/team-choice";
import { readUploads, uploadsIn, withUploads } from "../../cli/uploads";
import { RunRequestSchema } from "../../src/protocol/api";

const CONFIG = "agents:\n  - backend: &b\n      type: openai\n      upload_files: [{image_path: a.png}]\n  - backend: *b\n";

function folder(files: Readonly<Record<string, string | Buffer>>): { cwd: string; home: string } {
  const cwd = mkdtempSync(path.join(tmpdir(), "uploads-"));
  for (const [name, contents] of Object.entries(files)) writeFileSync(path.join(cwd, name), contents);
  return { cwd, home: cwd };
}

describe("the files a config names", () => {
  it.each([
    { name: "once, however many agents share them", yaml: CONFIG, paths: ["a.png"] },
    { name: "images and files", yaml: "agent: {backend: {upload_files: [{image_path: a}, {file_path: b}]}}", paths: ["a", "b"] },
    { name: "bare words", yaml: "agent: {backend: {upload_files: [a.pdf]}}", paths: ["a.pdf"] },
    {
      name: "not what has an address",
      yaml: "agent: {backend: {upload_files: [{file_path: 'https://x.example/a'}]}}",
      paths: [],
    },
    { name: "not sound and video", yaml: "agent: {backend: {upload_files: [{audio_path: a}, {video_path: b}]}}", paths: [] },
    { name: "none in what is no YAML", yaml: "agents: [", paths: [] },
    { name: "none in a list that is none", yaml: "upload_files: a.png", paths: [] },
  ])("$name", ({ yaml, paths }) => expect(uploadsIn(yaml)).toEqual(paths));
});

describe("what goes along with a question", () => {
  it("is what the config and the command line name, by these names", async () => {
    const io = folder({ "team.yaml": CONFIG, "a.png": Buffer.from("\x89PNG", "latin1"), "b.txt": "beech" });
    const { attached } = await chooseTeam({ config: "team.yaml", file: ["b.txt", "a.png"] }, io);
    expect(attached).toEqual([
      { type: "file", name: "a.png", data: Buffer.from("\x89PNG", "latin1").toString("base64") },
      { type: "file", name: "b.txt", data: Buffer.from("beech").toString("base64") },
    ]);
    const question = withUploads("What is it?", attached);
    expect(RunRequestSchema.safeParse({ question }).success).toBe(true);
  });

  it("is nothing where nothing is named", async () => {
    const team = await chooseTeam({ model: ["gpt-5"] }, folder({}));
    expect(withUploads("What is it?", team.attached)).toBe("What is it?");
  });

  it.each([
    { name: "a file that is not there", files: {}, path: "a.png", told: /Cannot send a\.png along .* no such file/ },
    { name: "a folder", files: {}, path: ".", told: /it is a folder/ },
    { name: "an empty file", files: { "a.txt": "" }, path: "a.txt", told: /it is empty/ },
    {
      name: "more than may be sent",
      files: { "a.bin": Buffer.alloc(3_000_001) },
      path: "a.bin",
      told: /3000000 bytes may go along/,
    },
  ])("cannot be $name", async ({ files, path: named, told }) => {
    await expect(readUploads([named], folder(files))).rejects.toThrow(told);
  });
});
