import { expect, it } from "vitest";
import type { HistoryEntry } from "../../src/prompts/history";
import type { ModelRequest } from "../../src/providers/provider";
import { afterFirst, IDS, offers } from "./sent-requests";
import { call, type Script, type SentRequest, teamOf, TeamRun, votes } from "./team-run";

/** What a provider caches of the requests of a turn must begin the requests of the next turn. */

const ENTRIES: HistoryEntry[] = [
  { question: "One?", answer: "1" },
  { question: "Two?", answer: "2", cancelled: { executedTools: ["mail__send"] } },
  { question: "Three?", answer: "3" },
];

/** Personas that differ between turns. */
const withPersonas =
  (text: string): Script =>
  (agent, request, callNumber) => {
    if (!offers(request).includes("assign_personas"))
      return afterFirst(() => votes("agent1"))(agent, request, callNumber);
    const personas = ["agent1", "agent2", "agent3"].map((agent_id) => ({
      agent_id,
      persona: `${text} ${agent_id}`,
    }));
    return { items: [call("assign_personas", { personas })] };
  };

const requestsOf = (history: readonly HistoryEntry[], persona: string): SentRequest[] =>
  new TeamRun({
    team: teamOf(IDS, { rules: { personas: true }, tools: ["read_file"] }),
    history,
    script: withPersonas(persona),
  }).ask(`What comes after ${history.length}?`).sent;

const stageOf = ({ agent, request }: SentRequest): string => `${agent} ${offers(request).join()}`;

const historyOf = ({ messages: [first] }: ModelRequest): readonly string[] =>
  first?.role === "user" ? (first.history ?? []) : [];

it("each request of a turn begins as those of the turn before, with tools, instructions and history", () => {
  const [before, after] = [
    requestsOf(ENTRIES.slice(0, 2), "Doubt it."),
    requestsOf(ENTRIES, "Believe it."),
  ];
  const stages = new Set(before.map(stageOf).filter((stage) => after.map(stageOf).includes(stage)));
  expect(stages.size).toBeGreaterThanOrEqual(2 * IDS.length);
  for (const stage of stages) {
    const [earlier, later] = [before, after].map(
      (sent) => sent.find((one) => stageOf(one) === stage)?.request,
    );
    if (!earlier || !later) throw new Error(`no request in the stage ${stage}`);
    expect(later.system).toBe(earlier.system);
    expect(later.tools).toEqual(earlier.tools);
    expect(historyOf(earlier)).toHaveLength(2);
    expect(historyOf(later).slice(0, 2)).toEqual(historyOf(earlier));
    expect(historyOf(later)).toHaveLength(3);
  }
});
