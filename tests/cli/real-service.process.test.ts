import { mkdir, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildCli, CLI_FILE } from "../../local/bundle/cli-bundle";
import { insertKey } from "../../d1/key-statements";
import { ServiceProcess } from "../../simulated/service/service-process";
import {
  answersThenVotes,
  byStage,
  hangs,
  newAnswer,
  reportsAttachments,
  vote,
} from "../../simulated/providers/scripts";
import { type SimulatedProviders, startSimulatedProviders } from "../../simulated/providers/server";
import { hashSecret, SECRET_BYTES, toKey } from "../../src/tenancy/keys";
import { LOCAL } from "../e2e/support/local";
import { sha256 } from "../../local/sha256";
import { PNG } from "../api/sessions/attachments";
import { Ask } from "./ask-process";
import { eventsPath } from "../../src/protocol/paths";

/** Runs the command against the service in the real runtime, with simulated models. */
const FINAL = "At 100 °C at sea level, and a degree less for every 300 m above it.";
const KEY = toKey("01kb0000000000000000000000", new Uint8Array(SECRET_BYTES).fill(7));
const FIRST_KEY = insertKey({
  id: KEY.id,
  tenant: "acme",
  name: "the first",
  secretHash: hashSecret(KEY.secret),
  scopes: "admin",
  now: Date.now(),
  expiresAt: null,
});
const MODELS = {
  good: answersThenVotes({ answer: "At 100 °C." }),
  // Even on a busy machine, presenting takes far longer than the 2 s that Ctrl+C waits.
  thorough: byStage({
    answering: () => newAnswer(FINAL),
    deciding: (situation) => vote(situation),
    presenting: () => ({ text: FINAL, pace: { ttftMs: 8_000 } }),
  }),
  looker: reportsAttachments(),
  stalls: hangs("body", { text: "Water boils at 100 °C, and", tokens: 5 }),
};

let folder: string;
let service: ServiceProcess;
let providers: SimulatedProviders;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "ask-"));
  providers = await startSimulatedProviders({ models: MODELS });
  service = await ServiceProcess.prepare(
    { ...LOCAL, MASTER_KEY: "0123456789abcdef0123456789abcdef" },
    [FIRST_KEY],
  );
  await service.start();
});
afterAll(async () => {
  await service?.stop();
  await providers?.close();
  await rm(folder, { recursive: true, force: true });
});

/** Writes a config with a team of these models, and returns its path. */
async function teamOf(...models: (keyof typeof MODELS)[]): Promise<string> {
  const agents = models.map(
    (model) =>
      `  - id: ${model}\n    backend: {type: chatcompletion, model: ${model}, base_url: "${providers.baseUrl}", api_key: simulated}\n`,
  );
  const team = path.join(folder, `${models.join("-")}.yaml`);
  await writeFile(team, `ui: {display_type: simple}\nagents:\n${agents.join("")}`);
  return team;
}

const startAsk = async (...models: (keyof typeof MODELS)[]): Promise<Ask> =>
  new Ask([
    "When does water boil?",
    "--config",
    await teamOf(...models),
    "--server",
    service.url,
    "--verbose",
  ]);

/** The arguments of the printed `npm run ask --` command that attaches again. */
function attachArguments({ stderr }: Ask): string[] {
  const printed = /npm run ask -- (.*)\n/.exec(stderr)?.[1];
  if (printed === undefined) throw new Error(`No command in: ${stderr}`);
  return printed.split(" ");
}

describe("Ctrl+C, with the service itself", () => {
  it("once: the run continues without clients, and the printed command attaches to it", async () => {
    const ask = await startAsk("good", "thorough");
    await ask.says("thorough presents the final answer");
    ask.interrupt();
    expect([await ask.ended(), ask.stdout]).toEqual([4, ""]);
    expect(ask.stderr).toMatch(
      /^warning {2}line 1: .*display_type.*\n(warning .*\n)*00:00 {2}turn 1 started/,
    );

    const again = new Ask([...attachArguments(ask), "--verbose"]);
    expect([await again.ended(), again.stdout], again.stderr).toEqual([0, `${FINAL}\n`]);
    expect(again.stderr).toContain("turn 1 started: 2 agents");
    expect(again.stderr).toContain("winner  thorough with agent");
  });

  it("twice: the run is cancelled, and its calls are cut off", async () => {
    const ask = await startAsk("stalls", "good");
    await ask.says("good answers:");
    ask.interrupt();
    await ask.says("Press Ctrl+C again");
    ask.interrupt();
    expect(await ask.ended(), ask.stderr).toBe(4);
    expect(ask.stdout).toBe("");
    expect(ask.stderr).toContain("Partial answer:\nAt 100 °C.\ncancelled\n");

    const [, session = ""] = attachArguments(ask);
    const events = await fetch(new URL(eventsPath(session, 1), service.url)).then((response) =>
      response.text(),
    );
    expect(events.match(/^event: turn\..*$/gm)).toEqual([
      "event: turn.started",
      "event: turn.cancelled",
    ]);
    const stalled = () => providers.requests().filter(({ model }) => model === "stalls");
    // Without a cancel, a silent call is closed after 90 s.
    await expect
      .poll(() => stalled().map(({ outcome }) => outcome), { timeout: 20_000 })
      .toEqual(["closed"]);
  });
});

describe("attached files, with the service itself", () => {
  it("reach the model, both those of upload_files and those of --file", async () => {
    const [picture, notes, team] = ["a.png", "notes.txt", "looking.yaml"].map((name) =>
      path.join(folder, name),
    );
    await writeFile(picture ?? "", PNG);
    await writeFile(notes ?? "", "seven ash trees");
    const backend = `{type: chatcompletion, model: looker, base_url: "${providers.baseUrl}", api_key: simulated, upload_files: [{image_path: "${picture}"}]}`;
    await writeFile(team ?? "", `agents:\n  - id: looker\n    backend: ${backend}\n`);
    const ask = new Ask(
      ["What is it?", "--config", team ?? "", "--file", notes ?? "", "--server", service.url],
      { cwd: folder },
    );
    expect(await ask.ended(), ask.stderr).toBe(0);
    expect(ask.stderr).toContain(`attached  ${picture}, ${notes}\n`);
    expect(ask.stdout).toBe(
      `What came: image/png ${sha256(PNG).slice(0, 12)} | ${notes}:\n\nseven ash trees\n`,
    );
  });

  it("are refused by name if the model cannot read them", async () => {
    const picture = path.join(folder, "b.png");
    await writeFile(picture, PNG);
    const team = path.join(folder, "blind.yaml");
    const backend = `{type: chatcompletion, model: gpt-oss-120b, base_url: "${providers.baseUrl}", api_key: simulated}`;
    await writeFile(team, `agents:\n  - id: reader\n    backend: ${backend}\n`);
    const ask = new Ask([
      "What is it?",
      "--config",
      team,
      "--file",
      picture,
      "--server",
      service.url,
    ]);
    expect(await ask.ended()).toBe(1);
    expect(ask.stderr).toContain('agent "reader" (gpt-oss-120b) does not support');
  });
});

describe("the built file, with the service itself", () => {
  let home = "";
  beforeAll(async () => {
    home = path.join(folder, "home");
    await mkdir(home);
    await mkdir("dist", { recursive: true });
    await writeFile("dist/package.json", '{"type":"commonjs"}\n');
    await writeFile(CLI_FILE, await buildCli());
  });
  const run = async (
    args: string[],
    options: { env?: Record<string, string>; input?: string; cwd?: string } = {},
  ) => {
    const ask = new Ask(args, {
      program: "built",
      cwd: home,
      ...options,
      env: { HOME: home, MASSGEN_EDGE_SERVER: service.url, ...options.env },
    });
    return [await ask.ended(), ask.stdout, ask.stderr] as const;
  };

  it("asks, lists, shows and resumes a session, as a program would", async () => {
    const [code, stdout, stderr] = await run(
      ["ask", "-", "--config", await teamOf("good"), "--json"],
      {
        input: "When does water boil?\n",
      },
    );
    expect([code, stderr]).toEqual([0, expect.stringMatching(/^(warning .*\n)+$/)]);
    const turn = JSON.parse(stdout);
    expect(turn).toMatchObject({
      status: "completed",
      question: "When does water boil?",
      winner: "good",
    });
    const session: string = turn.session_id;
    expect((await run(["sessions"]))[1]).toMatch(
      new RegExp(`^${session}\\t.*\\tWhen does water boil\\?$`, "m"),
    );
    expect((await run(["show", session]))[1]).toContain(
      "Turn 1: completed\nWhen does water boil?\n\nAnswer\n",
    );
    expect((await run(["show", session, "--answer", "agent1.final"]))[1]).toBe(`${turn.answer}\n`);
    expect(await run(["attach", session, "1"])).toEqual([0, `${turn.answer}\n`, ""]);
    expect(await run(["cancel", session])).toEqual([
      0,
      "Turn 1 had already ended: completed.\n",
      "",
    ]);
    expect((await run(["show", "session_01jdnosuchsession"])).slice(0, 2)).toEqual([1, ""]);
    expect(await run(["delete", session, "--yes"])).toEqual([
      0,
      `Session ${session} is erased.\n`,
      "",
    ]);
    expect((await run(["show", session])).slice(0, 2)).toEqual([1, ""]);
    expect((await run(["sessions", "--all"]))[1]).not.toContain(session);
  });

  it("copies a team of the service into a new config", async () => {
    const cwd = await mkdtemp(path.join(folder, "copy-"));
    expect((await run(["config", "init", "--team", "one-provider"], { cwd }))[0]).toBe(0);
    const [code, stdout] = await run(["config", "validate"], { cwd });
    expect([code, stdout]).toEqual([1, expect.stringContaining("OpenAI needs a key")]);
    expect(stdout).not.toContain("errors\n");
  });

  it("checks configs and lists teams", async () => {
    expect((await run(["config", "validate", await teamOf("good")]))[1]).toContain(
      "good.yaml can run here.",
    );
    const [code, stdout] = await run(["config", "validate", "-"], {
      input: "agents:\n  - id: a\n    backend: {type: opnai}\n",
    });
    expect([code, stdout]).toEqual([
      1,
      expect.stringMatching(
        /^stdin cannot run here\.\nerrors\n {2}stdin:3:\d+ .*`openai`.*\n {4}3 \| {5}backend: \{type: opnai\}\n {6}\| +\^\n$/,
      ),
    ]);
    expect((await run(["config", "list"]))[1]).toMatch(/^demo\tnot ready\t/m);
    const refused = await run(["why?", "--config", "demo"]);
    expect([refused[0], refused[2]]).toEqual([1, expect.stringContaining("needs a key")]);
  });

  it("logs in, creates and revokes keys, and lists no sessions of another tenant", async () => {
    const wrongKey = await run(["login"], { input: `${KEY.key.slice(0, -1)}x\n` });
    expect([wrongKey[0], wrongKey[2]]).toEqual([
      5,
      `${service.url} refused this key. Nothing was stored.\n`,
    ]);
    expect((await run(["login"], { input: `${KEY.key}\n` }))[0]).toBe(0);
    expect(
      (await stat(path.join(home, ".config/massgen-edge/credentials.json"))).mode & 0o777,
    ).toBe(0o600);
    expect(await run(["sessions"])).toEqual([0, "", "No sessions yet.\n"]);

    const [, key, notice] = await run([
      "keys",
      "create",
      "reader",
      "--scopes",
      "read",
      "--days",
      "7",
    ]);
    const id = key.split("_")[1] ?? "";
    expect([key, notice]).toEqual([
      expect.stringMatching(/^mge_\w{26}_\S{43}\n$/),
      expect.stringContaining(id),
    ]);
    const reader = { env: { MASSGEN_EDGE_KEY: key.trim() } };
    const refused = await run(["why?", "--config", await teamOf("good")], reader);
    expect([refused[0], refused[2]]).toEqual([5, expect.stringContaining("insufficient_scope")]);
    expect((await run(["keys", "list"]))[1]).toMatch(
      new RegExp(`^${id}\\tgood\\tread\\t.*\\treader$`, "m"),
    );
    expect(await run(["keys", "revoke", id, "--yes"])).toEqual([0, `Key ${id} is revoked.\n`, ""]);
    expect((await run(["sessions"], reader))[0]).toBe(5);
    expect((await run(["logout"]))[1]).toContain("was removed from this machine");
  });

  it("runs doctor, which finds no error or names it", async () => {
    const [code, stdout] = await run(["doctor"]);
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/^ok {4}service {3}http.* answers in \d+ ms/m),
    ]);
    expect(stdout).toContain("needs no key");
    // The service has no provider's key. It is healthy, but would refuse the first question (A33).
    expect(stdout).toMatch(
      /^note {2}config {4}no config here; the default team, demo, cannot run yet\. .*set \w+_API_KEY/m,
    );
    expect(stdout).not.toContain("clock");
    const unreachable = await run(["doctor", "--server", "http://127.0.0.1:9"]);
    expect([unreachable[0], unreachable[1]]).toEqual([6, expect.stringContaining("bad   service")]);
    const refused = await run(["doctor"], { env: { MASSGEN_EDGE_KEY: "mge_wrong" } });
    expect([refused[0], refused[1]]).toEqual([
      5,
      expect.stringContaining("bad   key       the service refuses it (MASSGEN_EDGE_KEY)"),
    ]);
  });
});
