import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { chooseTeam } from "../../../cli/asking/team-choice";
import type { Fetcher } from "../../../cli/uploads/fetch-file";
import { readUploads, printAttached, uploadsIn, withUploads } from "../../../cli/uploads/uploads";
import { RunRequestSchema } from "../../../src/protocol/api";

const CONFIG =
  "agents:\n  - backend: &b\n      type: openai\n      upload_files: [{image_path: a.png}]\n  - backend: *b\n";

const silentStderr = { write: () => undefined };

function folderWith(files: Readonly<Record<string, string | Buffer>>) {
  const cwd = mkdtempSync(path.join(tmpdir(), "uploads-"));
  for (const [name, contents] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(cwd, name)), { recursive: true });
    writeFileSync(path.join(cwd, name), contents);
  }
  return { cwd, home: cwd, stderr: silentStderr };
}

describe("uploadsIn returns", () => {
  it.each([
    { name: "a file once, even if several agents have it", yaml: CONFIG, paths: ["a.png"] },
    {
      name: "the paths of images and files",
      yaml: "agent: {backend: {upload_files: [{image_path: a}, {file_path: b}]}}",
      paths: ["a", "b"],
    },
    {
      name: "entries without a key",
      yaml: "agent: {backend: {upload_files: [a.pdf]}}",
      paths: ["a.pdf"],
    },
    {
      name: "addresses with https",
      yaml: "agent: {backend: {upload_files: [{file_path: 'https://x.example/a'}]}}",
      paths: ["https://x.example/a"],
    },
    {
      name: "no other addresses",
      yaml: "agent: {backend: {upload_files: [{file_path: 'http://x.example/a'}, 'file:///etc/passwd', 'FTP://x.example/a']}}",
      paths: [],
    },
    {
      name: "sounds, but not videos",
      yaml: "agent: {backend: {upload_files: [{audio_path: a}, {video_path: b}]}}",
      paths: ["a"],
    },
    {
      name: "an entry given by an anchor",
      yaml: "x: &p {image_path: a.png}\nagent: {backend: {upload_files: [*p]}}",
      paths: ["a.png"],
    },
    {
      name: "a path given by an anchor",
      yaml: "x: &p a.png\nagent: {backend: {upload_files: [{image_path: *p}]}}",
      paths: ["a.png"],
    },
    {
      name: "a list given by an anchor",
      yaml: "x: &l [a.png, b.png]\nagent: {backend: {upload_files: *l}}",
      paths: ["a.png", "b.png"],
    },
    {
      name: "nothing for an unknown anchor",
      yaml: "agent: {backend: {upload_files: [*gone]}}",
      paths: [],
    },
    { name: "nothing for invalid YAML", yaml: "agents: [", paths: [] },
    { name: "nothing for a value that is not a list", yaml: "upload_files: a.png", paths: [] },
  ])("$name", ({ yaml, paths }) => expect(uploadsIn(yaml)).toEqual(paths));
});

describe("the attachments of a question", () => {
  it("are the files that the config and the command line name, under the names given there", async () => {
    const io = folderWith({
      "team.yaml": CONFIG,
      "a.png": Buffer.from("\x89PNG", "latin1"),
      "b.txt": "beech",
    });
    const { attachments } = await chooseTeam({ config: "team.yaml", file: ["b.txt", "a.png"] }, io);
    expect(attachments).toEqual([
      { type: "file", name: "a.png", data: Buffer.from("\x89PNG", "latin1").toString("base64") },
      { type: "file", name: "b.txt", data: Buffer.from("beech").toString("base64") },
    ]);
    const question = withUploads("What is it?", attachments);
    expect(RunRequestSchema.safeParse({ question }).success).toBe(true);
  });

  it("are empty if no file is named", async () => {
    const team = await chooseTeam({ model: ["gpt-5"] }, folderWith({}));
    expect(withUploads("What is it?", team.attachments)).toBe("What is it?");
  });

  it.each([
    {
      name: "a missing file",
      files: {},
      path: "a.png",
      message: /Cannot attach a\.png to .* no such file/,
    },
    { name: "a folder", files: {}, path: ".", message: /it is a folder/ },
    { name: "an empty file", files: { "a.txt": "" }, path: "a.txt", message: /it is empty/ },
    {
      name: "files above the size limit",
      files: { "a.bin": Buffer.alloc(3_000_001) },
      path: "a.bin",
      message: /3000000 bytes is the limit/,
    },
  ])("cannot include $name", async ({ files, path: named, message }) => {
    await expect(
      readUploads([{ name: named, isNamedByUser: true }], folderWith(files)),
    ).rejects.toThrow(message);
  });
});

describe("a file that only a config names is not sent", () => {
  const configOf = (named: string) =>
    `agent: {backend: {upload_files: [${JSON.stringify(named)}]}}`;
  const PARENT = folderWith({ "elsewhere/notes.txt": "not for others", "site/a.txt": "ash" });
  const io = { cwd: path.join(PARENT.cwd, "site"), home: PARENT.cwd, stderr: silentStderr };
  const writeInFolder = (name: string, contents = "x") => {
    mkdirSync(path.dirname(path.join(io.cwd, name)), { recursive: true });
    writeFileSync(path.join(io.cwd, name), contents);
  };
  for (const name of [
    ".env",
    "keys/id_ed25519",
    ".ssh/config",
    ".git/config",
    "certs/ca.PEM",
    "docs/b.txt",
  ])
    writeInFolder(name);
  writeInFolder(".npmrc", "//registry.example/:_authToken=secret");
  symlinkSync(path.join(io.cwd, ".env"), path.join(io.cwd, "picture.png"));
  symlinkSync(path.join(PARENT.cwd, "elsewhere"), path.join(io.cwd, "linked"));
  symlinkSync(path.join(io.cwd, "a.txt"), path.join(io.cwd, "same.txt"));

  it.each([
    {
      name: "if it is above the folder",
      named: "../elsewhere/notes.txt",
      reason: "it is outside this folder",
    },
    {
      name: "if its path is absolute",
      named: "/etc/passwd",
      reason: "it is outside this folder",
    },
    {
      name: "if a link leads out of the folder",
      named: "linked/notes.txt",
      reason: "it is outside this folder",
    },
    {
      name: "if its name is that of a file of passwords",
      named: ".env",
      reason: "it may hold secrets",
    },
    {
      name: "if it is a link to a file of passwords",
      named: "picture.png",
      reason: "it may hold secrets",
    },
    { name: "if it is a private key", named: "keys/id_ed25519", reason: "it may hold secrets" },
    { name: "if it is in a folder of keys", named: ".ssh/config", reason: "it may hold secrets" },
    {
      name: "if it belongs to git",
      named: "docs/../.git/config",
      reason: "it may hold secrets",
    },
    {
      name: "if it is a certificate, and its name is in capitals",
      named: "certs/ca.PEM",
      reason: "it may hold secrets",
    },
    { name: "if it contains a token", named: ".npmrc", reason: "it contains a key" },
  ])("$name", async ({ named, reason }) => {
    writeInFolder("team.yaml", configOf(named));
    const message = `Cannot attach ${named} to the question: only a config names it, and ${reason}; to send it, add --file ${named}.`;
    await expect(chooseTeam({ config: "team.yaml" }, io)).rejects.toThrow(message);
    const { attachments } = await chooseTeam({ config: "team.yaml", file: [named] }, io);
    expect(attachments).toMatchObject([{ type: "file", name: named }]);
  });

  it.each(["docs/b.txt", path.join(io.cwd, "a.txt"), "same.txt", "../site/a.txt"])(
    "unless it is in the folder: %s",
    async (named) => {
      writeInFolder("team.yaml", configOf(named));
      expect((await chooseTeam({ config: "team.yaml" }, io)).attachments).toMatchObject([
        { name: named },
      ]);
    },
  );

  it("and the attached files are listed on one line, without control characters", () => {
    const written: string[] = [];
    const stderr = { write: (text: string) => written.push(text) };
    const parts = ["a.png", "b\u001b[2J.txt"].map(
      (name) => ({ type: "file", name, data: "eA==" }) as const,
    );
    printAttached(parts, { stderr });
    printAttached(undefined, { stderr });
    expect(written).toEqual(["attached  a.png, b.txt\n"]);
  });
});

describe("a file with an address", () => {
  const ADDRESS = "https://files.example/a.pdf";
  const CONFIG_WITH_ADDRESS = `agent: {backend: {upload_files: [{file_path: '${ADDRESS}'}]}}`;
  async function* body(): AsyncGenerator<Uint8Array> {
    yield Buffer.from("%PDF-1");
  }
  /** Fetchers that send nothing and record each requested address with the fetcher's name. */
  const recordingFetchers = () => {
    const requested: string[] = [];
    const printed: string[] = [];
    const get =
      (fetcher: string): Fetcher =>
      async ({ href }) => {
        requested.push(`${fetcher} ${href}`);
        return { status: 200, location: null, body: body(), close: () => undefined };
      };
    const stderr = { write: (text: string) => printed.push(text) };
    return {
      requested,
      printed,
      stderr,
      fetchers: { byUser: get("by user"), byConfig: get("by config") },
    };
  };

  it("is fetched only from a public address, after a notice, if only a config names it", async () => {
    const { requested, printed, stderr, fetchers } = recordingFetchers();
    const { attachments } = await chooseTeam(
      { config: "team.yaml" },
      { ...folderWith({ "team.yaml": CONFIG_WITH_ADDRESS }), stderr },
      fetchers,
    );
    expect(attachments).toEqual([
      { type: "file", name: ADDRESS, data: Buffer.from("%PDF-1").toString("base64") },
    ]);
    expect(requested).toEqual([`by config ${ADDRESS}`]);
    expect(printed).toEqual([
      `fetch   ${ADDRESS} from this machine, because the config names it in upload_files\n`,
    ]);
  });

  it("is fetched from any address if the user names it, even if a config names it too", async () => {
    const { requested, printed, stderr, fetchers } = recordingFetchers();
    const flags = { config: "team.yaml", file: [ADDRESS] };
    const { attachments } = await chooseTeam(
      flags,
      { ...folderWith({ "team.yaml": CONFIG_WITH_ADDRESS }), stderr },
      fetchers,
    );
    expect(attachments).toHaveLength(1);
    expect([requested, printed]).toEqual([[`by user ${ADDRESS}`], []]);
  });

  it("is not fetched if its address is not public, and the message says what to do", async () => {
    const named = "https://192.168.0.1/secret.txt";
    const io = folderWith({ "team.yaml": `agent: {backend: {upload_files: ['${named}']}}` });
    const message = `Cannot attach ${named} to the question: 192.168.0.1 is not a public address; if you trust this address, add --file ${named}.`;
    await expect(chooseTeam({ config: "team.yaml" }, io)).rejects.toThrow(message);
  });
});
