import { describe, expect, it } from "vitest";
import { OPENAI_CHAT } from "../../simulated/providers/formats/openai-chat";
import { type Situation, toSituation } from "../../simulated/providers/situation";
import { findHost } from "../../src/providers/hosts";
import { toBody } from "../../src/providers/openai-chat/request";
import { answers, call, says, teamOf, TeamRun, votes } from "./team-run";

/**
 * The simulated models read the real prompts. These tests check that they find what they need
 * there.
 */
describe("a simulated model finds in its request", () => {
  const situations: Situation[] = [];
  const team = teamOf(["a", "b", "c"], { rules: { max_orchestration_restarts: 1 } });
  const history = [{ question: "Earlier?", answer: "Yes." }];
  new TeamRun({
    team,
    history,
    script: (agent, request, callNumber) => {
      const situation = toSituation(
        OPENAI_CHAT.read({
          path: "",
          headers: {},
          body: toBody(request, findHost("https://models.example/v1")),
        }),
      );
      situations.push(situation);
      if (situation.stage === "first_answer") return answers(`answer ${agent}`);
      if (situation.stage === "presentation") return says("final");
      if (situation.stage === "judgement") return { items: [call("submit", { confirmed: true })] };
      return agent === 2 && callNumber === 2
        ? answers("improved")
        : votes(situation.aliases[0] ?? "");
    },
  }).ask("How many?");
  const at = (stage: Situation["stage"]) =>
    situations.filter((situation) => situation.stage === stage);

  it("the question at every stage", () => {
    expect(new Set(situations.map(({ question }) => question))).toEqual(new Set(["How many?"]));
  });

  it("no answers before it has answered", () => {
    expect(at("first_answer").map(({ shown, aliases }) => [shown, aliases])).toEqual(
      [[], [], []].map((shown) => [shown, []]),
    );
  });

  it("all answers and all aliases when it decides", () => {
    const [deciding] = at("deciding");
    expect(deciding?.shown.map(({ text }) => text).toSorted()).toEqual([
      "answer 0",
      "answer 1",
      "answer 2",
    ]);
    expect(deciding?.aliases).toEqual(["agent1", "agent2", "agent3"]);
  });

  it("only the newer answer in an update, not the earlier answers", () => {
    const updated = at("deciding").filter(({ updates }) => updates > 0);
    expect(updated.length).toBeGreaterThan(0);
    for (const { news } of updated) expect(news.map(({ text }) => text)).toEqual(["improved"]);
  });

  it("every answer in a presentation, including its own", () => {
    expect(at("presentation")[0]?.shown).toHaveLength(3);
  });

  it("the stage in which the final text is judged", () => {
    expect(at("judgement")).toHaveLength(1);
  });
});
