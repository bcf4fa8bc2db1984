import { all, changes, type Corruption, rewrites, withRules } from "./corruptions";
import type { Row } from "./row";

const TEAM = ["ada", "bela", "cleo"];

/** Adds an agent to the session's team, which does not take part in the turn. */
const leavesOut = (at: "first" | "last"): Corruption =>
  all(
    rewrites("session.created", ({ rules, ...event }) => {
      const others = rules.agents.slice(0, 1).map((agent) => ({ ...agent, id: "zoe" }));
      const agents = at === "first" ? [...others, ...rules.agents] : [...rules.agents, ...others];
      return { ...event, rules: { ...rules, agents } };
    }),
    changes("turn.started", { overrides: { agents: TEAM } }),
  );

/** Corruptions of the team of a turn. */
export const TEAMS: readonly Row[] = [
  {
    name: "the team of the session, stored again in a turn",
    corruption: (log) => {
      const created = log.find((event) => event.type === "session.created");
      return log.map((event) =>
        event.type === "turn.started" && created ? { ...event, rules: created.rules } : event,
      );
    },
    invariant: "turn-team",
  },
  {
    name: "a turn without agents",
    corruption: changes("turn.started", { overrides: { agents: [] } }),
    invariant: "turn-team",
  },
  {
    name: "a turn with an agent of another team",
    corruption: changes("turn.started", { overrides: { agents: ["ada", "bela", "cleo", "zoe"] } }),
    invariant: "turn-team",
  },
  {
    name: "another model for an agent of another team",
    corruption: changes("turn.started", { overrides: { models: { zoe: "larger" } } }),
    invariant: "turn-team",
  },
  {
    name: "another model that no agent of the turn has",
    corruption: changes("turn.started", { overrides: { models: { ada: "larger" } } }),
    invariant: "turn-team",
  },
  {
    name: "a quick turn with a number of answers",
    corruption: changes("turn.started", {
      overrides: { quick: true, max_new_answers_per_agent: 1 },
    }),
    invariant: "turn-team",
  },
  {
    name: "labels that do not count an agent of the team that takes no part",
    corruption: leavesOut("first"),
    invariant: "answers",
  },
  {
    name: "an answer beyond the turn's limit",
    script: "improved-answer-with-injection",
    corruption: changes("turn.started", { overrides: { max_new_answers_per_agent: 1 } }),
    invariant: "limits",
  },
];

/** Turns with a changed team that are correct. */
export const CORRECT_TEAMS: readonly Omit<Row, "invariant">[] = [
  {
    name: "a turn with more answers than its team allows",
    script: "improved-answer-with-injection",
    corruption: all(
      withRules({ max_new_answers_per_agent: 1 }),
      changes("turn.started", { overrides: { max_new_answers_per_agent: 5 } }),
    ),
  },
  {
    name: "a turn whose agents all take part",
    corruption: changes("turn.started", { overrides: { agents: TEAM } }),
  },
  { name: "a turn without the team's last agent", corruption: leavesOut("last") },
];
