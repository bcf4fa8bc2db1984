import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ServiceProcess } from "../../scripts/service/service-process";
import { answersThenVotes, byStage, hangs, newAnswer, vote } from "../../scripts/simulated-providers/scripts";
import { type SimulatedProviders, startSimulatedProviders } from "../../scripts/simulated-providers/server";
import { eventsPath } from "../../src/protocol/api";
import { LOCAL } from "../process/support/local";
import { Ask } from "./ask-process";

/** The command against the service itself, in the real runtime, with simulated models. */
const FINAL = "At 100 °C at sea level, and a degree less for every 300 m above it.";
const MODELS = {
  good: answersThenVotes({ answer: "At 100 °C." }),
  // Takes longer to present than the moment that Ctrl+C leaves for second thoughts.
  thorough: byStage({
    answering: () => newAnswer(FINAL),
    deciding: (situation) => vote(situation),
    presenting: () => ({ text: FINAL, pace: { ttftMs: 4_000 } }),
  }),
  stalls: hangs("body", { text: "Water boils at 100 °C, and", tokens: 5 }),
};

let folder: string;
let service: ServiceProcess;
let providers: SimulatedProviders;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "ask-"));
  providers = await startSimulatedProviders({ models: MODELS });
  service = await ServiceProcess.prepare(LOCAL);
  await service.start();
});
afterAll(async () => {
  await service?.stop();
  await providers?.close();
  await rm(folder, { recursive: true, force: true });
});

/** `ask` with a team of these models. */
async function asking(...models: (keyof typeof MODELS)[]): Promise<Ask> {
  const agents = models.map(
    (model) =>
      `  - id: ${model}\n    backend: {type: chatcompletion, model: ${model}, base_url: "${providers.baseUrl}", api_key: simulated}\n`,
  );
  const team = path.join(folder, `${models.join("-")}.yaml`);
  await writeFile(team, `ui: {display_type: simple}\nagents:\n${agents.join("")}`);
  return new Ask(["When does water boil?", "--config", team, "--server", service.url]);
}

/** The command that it printed for coming back, after `npm run ask --`. */
function attachArguments({ stderr }: Ask): string[] {
  const printed = /npm run ask -- (.*)\n/.exec(stderr)?.[1];
  if (printed === undefined) throw new Error(`No command in: ${stderr}`);
  return printed.split(" ");
}

describe("Ctrl+C, with the service itself", () => {
  it("once: the run goes on without anybody, and the printed command shows it to its end", async () => {
    const ask = await asking("good", "thorough");
    await ask.says("thorough presents the final answer");
    ask.interrupt();
    expect([await ask.ended(), ask.stdout]).toEqual([4, ""]);
    expect(ask.stderr).toMatch(/^warning {2}line 1: .*display_type.*\n(warning .*\n)*00:00 {2}turn 1 begins/);

    const again = new Ask(attachArguments(ask));
    expect([await again.ended(), again.stdout], again.stderr).toEqual([0, `${FINAL}\n`]);
    expect(again.stderr).toContain("turn 1 begins: 2 agents");
    expect(again.stderr).toContain("winner  thorough with agent");
  });

  it("twice: the run is cancelled, and its calls are cut off", async () => {
    const ask = await asking("stalls", "good");
    await ask.says("good answers:");
    ask.interrupt();
    await ask.says("Press Ctrl+C again");
    ask.interrupt();
    expect(await ask.ended(), ask.stderr).toBe(4);
    expect(ask.stdout).toBe("");
    expect(ask.stderr).toContain("What there is so far:\nAt 100 °C.\ncancelled\n");

    const [, session = ""] = attachArguments(ask);
    const events = await fetch(new URL(eventsPath(session, 1), service.url)).then((response) => response.text());
    expect(events.match(/^event: turn\..*$/gm)).toEqual(["event: turn.started", "event: turn.cancelled"]);
    const stalled = () => providers.requests().filter(({ model }) => model === "stalls");
    await expect.poll(() => stalled().map(({ outcome }) => outcome), { timeout: 2_000 }).toEqual(["closed"]);
  });
});
