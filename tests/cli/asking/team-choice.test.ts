import { mkdir, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { chooseTeam, type TeamFlags } from "../../../cli/asking/team-choice";

let root = "";
const folders = () => ({
  cwd: path.join(root, "work"),
  home: path.join(root, "home"),
  stderr: { write: () => undefined },
});
/** A user who answers every question with yes. */
const io = () => ({ ...folders(), confirm: async () => true });
beforeEach(async () => {
  root = await mkdtemp(path.join(tmpdir(), "team-"));
  await mkdir(io().cwd);
});
afterEach(() => rm(root, { recursive: true }));

async function writeTestFile(file: string, text: string | Buffer): Promise<void> {
  await mkdir(path.dirname(path.join(root, file)), { recursive: true });
  await writeFile(path.join(root, file), text);
}
const PROJECT = "work/.massgen/config.yaml";
const USER = "home/.config/massgen/config.yaml";

describe("the team of a question", () => {
  it.each<{
    name: string;
    files: Record<string, string>;
    flags: TeamFlags;
    request: object;
    description: string;
  }>([
    {
      name: "is the default team of the service",
      files: {},
      flags: {},
      request: {},
      description: "the service's usual team",
    },
    {
      name: "is the user's file",
      files: { [USER]: "u: 1" },
      flags: {},
      request: { config_yaml: "u: 1" },
      description: "~/.config/massgen/config.yaml",
    },
    {
      name: "is the project's file if the user also has a file",
      files: { [USER]: "u: 1", [PROJECT]: "p: 1" },
      flags: {},
      request: { config_yaml: "p: 1" },
      description: ".massgen/config.yaml",
    },
    {
      name: "is the file that --config names, even if the project has a file",
      files: { [PROJECT]: "p: 1", "work/my.yaml": "m: 1" },
      flags: { config: "my.yaml" },
      request: { config_yaml: "m: 1" },
      description: "my.yaml",
    },
    {
      name: "is an included team if no file has the name",
      files: { [PROJECT]: "p: 1" },
      flags: { config: "coding" },
      request: { config: "coding" },
      description: "team coding of the service",
    },
    {
      name: "is the file if a file and an included team have the same name",
      files: { "work/coding": "c: 1" },
      flags: { config: "coding" },
      request: { config_yaml: "c: 1" },
      description: "coding",
    },
    {
      name: "is one model, even if there is a config",
      files: { [PROJECT]: "p: 1" },
      flags: { model: ["gpt-6.1-terra"] },
      request: { config: { agents: [{ id: "agent", backend: { model: "gpt-6.1-terra" } }] } },
      description: "gpt-6.1-terra",
    },
    {
      name: "is a model with a backend and a system message",
      files: {},
      flags: { model: ["acme/large"], backend: "openrouter", systemMessage: "Be brief." },
      request: {
        config: {
          agents: [
            {
              id: "agent",
              backend: { type: "openrouter", model: "acme/large" },
              system_message: "Be brief.",
            },
          ],
        },
      },
      description: "acme/large",
    },
    {
      name: "is several models",
      files: {},
      flags: { model: ["claude-sonnet-5-5", "gemini-3.8-flash"] },
      request: {
        config: {
          agents: [
            { id: "agent_1", backend: { model: "claude-sonnet-5-5" } },
            { id: "agent_2", backend: { model: "gemini-3.8-flash" } },
          ],
        },
      },
      description: "claude-sonnet-5-5, gemini-3.8-flash",
    },
    {
      name: "is the default model of a backend",
      files: {},
      flags: { backend: "claude" },
      request: { config: { agents: [{ id: "agent", backend: { type: "claude" } }] } },
      description: "claude",
    },
  ])("$name", async ({ files, flags, request, description }) => {
    for (const [file, text] of Object.entries(files)) await writeTestFile(file, text);
    expect(await chooseTeam(flags, io())).toMatchObject({ request, description });
  });

  it.each<{
    name: string;
    files?: Record<string, string | Buffer>;
    flags: TeamFlags;
    expected: string;
  }>([
    {
      name: "a missing file",
      flags: { config: "no/such.yaml" },
      expected: "Cannot read the config no/such.yaml: there is no such file.",
    },
    {
      name: "a folder",
      files: { "work/team/x": "" },
      flags: { config: "team" },
      expected: "it is a folder",
    },
    {
      name: "an empty file",
      files: { [PROJECT]: " \n" },
      flags: {},
      expected: "The config .massgen/config.yaml is empty.",
    },
    {
      name: "a file that is not text",
      files: { "work/t.yaml": Buffer.from([0xff, 0xfe]) },
      flags: { config: "t.yaml" },
      expected: "it is not UTF-8 text",
    },
    {
      name: "a config and a model",
      flags: { config: "coding", model: ["gpt-5"] },
      expected: "A config names its models",
    },
    {
      name: "a system message without a model",
      flags: { systemMessage: "x" },
      expected: "--system-message needs --model",
    },
  ])("is refused for $name", async ({ files = {}, flags, expected }) => {
    for (const [file, text] of Object.entries(files)) await writeTestFile(file, text);
    await expect(chooseTeam(flags, io())).rejects.toMatchObject({
      exitCode: 1,
      message: expect.stringContaining(expected),
    });
  });
});

describe("a config that is found in a folder (H6)", () => {
  const CONSENTS = "home/.config/massgen-edge/allowed-configs.json";
  const TEAM =
    "agents:\n  - backend: {type: vllm, base_url: 'http://127.0.0.1:9/v1', upload_files: [{file_path: NOTES.md}]}\n    system_message: \"x\\e[2J\"\n";
  /** A user who answers each question with `yes`. `questions` contains the questions. */
  const userWithAnswer = (yes: boolean) => {
    const questions: string[] = [];
    const confirm = async (question: string) => {
      questions.push(question);
      return yes;
    };
    return { questions, io: { ...folders(), confirm } };
  };

  it("is not used without a terminal, and the message contains the command to type", async () => {
    await writeTestFile(PROJECT, TEAM);
    const refused = chooseTeam({}, folders());
    await expect(refused).rejects.toMatchObject({
      exitCode: 1,
      message: expect.stringContaining("npm run ask -- --config .massgen/config.yaml"),
    });
  });

  it("needs consent once, and again after a change; the question names its addresses and files", async () => {
    await writeTestFile(PROJECT, TEAM);
    await writeTestFile("work/NOTES.md", "notes");
    const user = userWithAnswer(true);
    await chooseTeam({}, user.io);
    await chooseTeam({}, user.io);
    await chooseTeam({}, folders());
    expect(user.questions).toEqual([
      expect.stringMatching(/http:\/\/127\.0\.0\.1:9\/v1[\s\S]*NOTES\.md/),
    ]);
    await writeTestFile(PROJECT, `${TEAM}# changed\n`);
    await expect(chooseTeam({}, folders())).rejects.toMatchObject({ exitCode: 1 });
    await chooseTeam({}, user.io);
    expect(user.questions).toHaveLength(2);
    expect((await stat(path.join(root, CONSENTS))).mode & 0o777).toBe(0o600);
  });

  it("is not used if the user refuses, and the refusal is not stored", async () => {
    await writeTestFile(PROJECT, "p: 1");
    const user = userWithAnswer(false);
    for (let tries = 0; tries < 2; tries += 1)
      await expect(chooseTeam({}, user.io)).rejects.toMatchObject({
        exitCode: 1,
        message: expect.stringContaining("is not used"),
      });
    expect(user.questions).toHaveLength(2);
  });

  it("needs another consent in another folder, and no consent if --config names it", async () => {
    await writeTestFile(PROJECT, "p: 1");
    await chooseTeam({}, io());
    await writeTestFile("elsewhere/.massgen/config.yaml", "p: 1");
    const elsewhere = { ...folders(), cwd: path.join(root, "elsewhere") };
    await expect(chooseTeam({}, elsewhere)).rejects.toMatchObject({ exitCode: 1 });
    expect(await chooseTeam({ config: ".massgen/config.yaml" }, elsewhere)).toMatchObject({
      request: { config_yaml: "p: 1" },
    });
  });

  it("adds no control characters to the question", async () => {
    await writeTestFile(PROJECT, "a: http://127.0.0.1:9/\u001b[2Jx\u202e\n");
    const user = userWithAnswer(true);
    await chooseTeam({}, user.io);
    for (const mark of ["\u001b", "\u202e"]) expect(user.questions[0]).not.toContain(mark);
  });

  it("has no consent if the file of consents is invalid", async () => {
    await writeTestFile(PROJECT, "p: 1");
    for (const text of ["", "[]", '{"folders": 1}', '{"folders": {"__proto__": "x"}}']) {
      await writeTestFile(CONSENTS, text);
      await expect(chooseTeam({}, folders())).rejects.toMatchObject({ exitCode: 1 });
    }
  });
});
