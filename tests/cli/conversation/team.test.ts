import { describe, expect, it } from "vitest";
import * as b from "../../protocol/builders";
import { problem, type ServiceOptions } from "../service";
import { secondTurn, startConversation, turnsPath } from "./terminal-user";

/** `/config` in a conversation: another team answers from the next question on. */

const VALIDATE = "/api/configs/validate";
const REVIEWERS = { config: "reviewers" };
const checked = {
  status: 200,
  body: { runnable: true, agents: [{ id: "rita", model: "model-r" }, { id: "rolf" }] },
};
const unknown = problem(422, {
  title: "Unknown team",
  detail: "No such team.",
  code: "unknown_team",
});
const ANSWERS: NonNullable<ServiceOptions["answers"]> = {
  [VALIDATE]: checked,
  [turnsPath]: secondTurn,
};
const END = b.story.at(-1) ?? b.cancelled(null);
const running = b.log(b.story.slice(0, -1));

type Stage = Awaited<ReturnType<typeof startConversation>>;

/** The questions that the service received. */
const questionsOf = ({ service }: Stage) =>
  service.requests
    .filter(({ method, path }) => method === "POST" && path !== VALIDATE)
    .map(({ body }): object => JSON.parse(body));

async function typeLines({ user }: Stage, lines: readonly string[]): Promise<void> {
  for (const [nth, line] of lines.entries()) await user.typeAtPrompt(`${line}\r`, nth + 1);
}

describe("/config in a session", () => {
  it("names the team and its agents, and lets it answer in the same session", async () => {
    await using stage = await startConversation({ answers: ANSWERS });
    await typeLines(stage, ["why?", "/config reviewers", "is it so?", "sure?", "/quit"]);
    await stage.user.exitCode();
    expect(questionsOf(stage)).toEqual([
      { question: "why?", config: "demo" },
      { question: "is it so?", ...REVIEWERS, on_busy: "queue" },
      { question: "sure?", on_busy: "queue" },
    ]);
    expect(stage.user.screenText).toContain(
      "team     team reviewers of the service: rita (model-r), rolf\n" +
        "It answers from the next question on, in this session. /new starts a new one with it.\n",
    );
  });

  it("starts the next new session with the team", async () => {
    await using stage = await startConversation({ answers: ANSWERS });
    await typeLines(stage, ["why?", "/config reviewers", "/new", "and here?", "/quit"]);
    await stage.user.exitCode();
    expect(questionsOf(stage)).toEqual([
      { question: "why?", config: "demo" },
      { question: "and here?", ...REVIEWERS },
    ]);
  });

  it("changes nothing if the service does not know the team", async () => {
    await using stage = await startConversation({ answers: { ...ANSWERS, [VALIDATE]: unknown } });
    await typeLines(stage, ["why?", "/config reviewers", "is it so?", "/quit"]);
    await stage.user.exitCode();
    expect(questionsOf(stage).at(-1)).toEqual({ question: "is it so?", on_busy: "queue" });
    expect(stage.user.screenText).toContain("No such team.");
  });

  it("waits for the next question if the last one is repeated with its own team", async () => {
    await using stage = await startConversation({ answers: ANSWERS });
    await typeLines(stage, ["why?", "/config reviewers", "/retry", "is it so?", "/quit"]);
    await stage.user.exitCode();
    expect(questionsOf(stage).slice(1)).toEqual([
      { repeat_turn: 1, on_busy: "queue" },
      { question: "is it so?", ...REVIEWERS, on_busy: "queue" },
    ]);
    expect(stage.user.screenText).toContain("The question keeps its own team.");
  });

  it("stays chosen if the service refuses the question", async () => {
    const refusal = problem(429, { title: "Too many", code: "rate_limited" });
    const answers: typeof ANSWERS = { ...ANSWERS, [turnsPath]: refusal };
    await using stage = await startConversation({ answers });
    const { user } = stage;
    await typeLines(stage, ["why?", "/config reviewers", "is it so?"]);
    await user.waitForText("Too many");
    answers[turnsPath] = secondTurn;
    await user.typeAtPrompt("/retry\r", 4);
    await user.typeAtPrompt("sure?\r", 5);
    await user.typeAtPrompt("/quit\r", 6);
    await user.exitCode();
    const asked = { question: "is it so?", ...REVIEWERS, on_busy: "queue" };
    expect(questionsOf(stage).slice(1)).toEqual([
      asked,
      { ...asked, parent_turn: 1 },
      { question: "sure?", on_busy: "queue" },
    ]);
  });

  it("without a name shows the team of the turn that the next question follows", async () => {
    const turn = {
      ...{ turn: 1, parent_turn: null, status: "completed", started_at: 1, ended_at: 2 },
      team: [{ agent: "ann", model: "model-a" }],
      overrides: { agents: ["ann"] },
    };
    const tree = { object: "list", data: [turn], head: 1, has_more: false };
    const answers = { ...ANSWERS, [`${turnsPath}?limit=1000`]: { status: 200, body: tree } };
    await using stage = await startConversation({ answers });
    await typeLines(stage, ["/config", "why?", "/config", "/config reviewers", "/config", "/quit"]);
    await stage.user.exitCode();
    const lines = stage.user.screenText.split("\n").filter((line) => line.startsWith("team  "));
    expect(lines).toEqual([
      "team     demo",
      "team     that of turn 1: ann (model-a); only in this turn: only ann",
      "team     team reviewers of the service: rita (model-r), rolf",
      "team     team reviewers of the service, from the next question on",
    ]);
  });
});

describe("/config that is typed while a turn runs", () => {
  /** A conversation whose first turn runs, after these lines were typed. */
  async function typing(
    answers: NonNullable<ServiceOptions["answers"]>,
    lines: readonly string[],
  ): Promise<Stage> {
    const stage = await startConversation({ events: running, answers }, {}, "xterm");
    await stage.user.typeAtPrompt("why?\r", 1);
    await stage.user.waitForText("presentation");
    for (const line of lines) {
      stage.user.stdin.write(`${line}\r`);
      await stage.user.waitForText(`${line} ${line.startsWith("/") ? "runs" : "is asked"} when`);
    }
    return stage;
  }

  it("changes the team of the question after it, which waits for it", async () => {
    await using stage = await typing(ANSWERS, ["/config reviewers", "is it so?"]);
    expect(questionsOf(stage)).toHaveLength(1);
    stage.service.push(END);
    await stage.user.typeAtPrompt("/quit\r", 2);
    await stage.user.exitCode();
    expect(questionsOf(stage).slice(1)).toEqual([
      { question: "is it so?", ...REVIEWERS, on_busy: "queue" },
    ]);
    expect(stage.user.screenText).toMatch(/> \/config reviewers\n[\s\S]*> is it so\?\n/);
  });

  it("does not change the team of a question before it", async () => {
    await using stage = await typing(ANSWERS, []);
    const { user, service } = stage;
    user.stdin.write("before?\r");
    await user.waitForText(() => questionsOf(stage).length === 2);
    user.stdin.write("/config reviewers\r");
    await user.waitForText("/config reviewers runs when");
    service.push(END);
    await user.typeAtPrompt("/quit\r", 2);
    await user.exitCode();
    expect(questionsOf(stage)[1]).toEqual({ question: "before?", on_busy: "queue" });
    const paths = service.requests.map(({ path }) => path);
    expect(paths.indexOf(VALIDATE)).toBeGreaterThan(paths.indexOf(turnsPath));
  });

  it("returns the question after it to the prompt if the team cannot be used", async () => {
    const answers = { ...ANSWERS, [VALIDATE]: unknown };
    await using stage = await typing(answers, ["/config reviewers", "is it so?"]);
    const { user, service } = stage;
    service.push(END);
    await user.waitForText("No such team.");
    await user.typeAtPrompt("\x03", 2);
    await user.waitForText("^C");
    user.stdin.write("\x04");
    await user.exitCode();
    expect(questionsOf(stage)).toHaveLength(1);
    expect(user.screenText.split("is it so?").length).toBeGreaterThan(2);
  });
});
