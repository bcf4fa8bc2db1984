import { criticalPathMs, type ServedCall, type Spread, spread } from "../arithmetic";
import { type Line, range, ratio, verdict } from "../figure";
import { idealCalls } from "../simulated-team";

/** Compares the contestants by their efficiency: critical path divided by wall time. Pure. */

export const CONTESTANTS = ["service", "langGraph", "bareInWorkerd", "bareInNode"] as const;
export type Contestant = (typeof CONTESTANTS)[number];

/**
 * A speed of all models. `sizes`: the numbers of agents that are measured. `least`: the least
 * efficiency of the service that the aim accepts; `null` if only the comparison counts.
 */
export type Speed = {
  name: "quick" | "slow";
  tokens: number;
  pace: { ttftMs: number; tokensPerSecond: number };
  sizes: readonly number[];
  least: number | null;
};

export const SPEEDS: readonly Speed[] = [
  {
    name: "quick",
    tokens: 40,
    pace: { ttftMs: 200, tokensPerSecond: 200 },
    sizes: [3, 5, 8, 16, 32, 50],
    least: null,
  },
  {
    name: "slow",
    tokens: 200,
    pace: { ttftMs: 1_000, tokensPerSecond: 100 },
    sizes: [3, 8, 16, 32],
    least: 0.98,
  },
];

/** One run of a contestant. */
export type Timing = { wallMs: number; pathMs: number; calls: number };

export type Runs = { efficiency: Spread; calls: Spread; wallMs: Spread; pathMs: Spread };

/** `commandMs`: the time of the whole command, with its start. */
export type MassGenRuns = Runs & { commandMs: Spread };

/**
 * The contestants with the same team and speed. `massGen`: a text says why it was not measured;
 * `null` if it does not play in this size.
 */
export type Comparison = {
  agents: number;
  speed: Speed["name"];
  runs: Record<Contestant, Runs>;
  massGen: MassGenRuns | string | null;
};

export const runsOf = (timings: readonly Timing[]): Runs => ({
  efficiency: spread(timings.map(({ wallMs, pathMs }) => pathMs / wallMs)),
  calls: spread(timings.map(({ calls }) => calls)),
  wallMs: spread(timings.map(({ wallMs }) => wallMs)),
  pathMs: spread(timings.map(({ pathMs }) => pathMs)),
});

/**
 * A run of a program whose start does not count: the wall time is from its first request to its
 * last response.
 */
export function timingOfCalls(calls: readonly (ServedCall & { endedAt: number })[]): Timing {
  const startedAt = Math.min(...calls.map((call) => call.startedAt));
  const endedAt = Math.max(...calls.map((call) => call.endedAt));
  return { wallMs: endedAt - startedAt, pathMs: criticalPathMs(calls), calls: calls.length };
}

export type StagedRequest = {
  stage: string;
  request: { model: string; body: Record<string, unknown> };
};

/**
 * The stages of a bare loop that sends the same requests: the first one of each model per stage. A
 * service that calls a model again adds no work to its lower bound.
 */
export function idealStages(requests: readonly StagedRequest[]): Record<string, unknown>[][] {
  const stages = Map.groupBy(requests, ({ stage }) => stage);
  return [...stages.values()].map((stage) => {
    const models = Map.groupBy(stage, ({ request }) => request.model);
    return [...models.values()].flatMap(([first]) => (first ? [first.request.body] : []));
  });
}

/** By how much the efficiency may be lower than that of LangGraph.js. */
const allowanceOf = (agents: number): number => (agents <= 16 ? 0.02 : 0.05);

/** Whether the service is efficient enough, by the medians. */
export function judgeEfficiency(
  { agents, runs }: Pick<Comparison, "agents" | "runs">,
  { least }: Pick<Speed, "least">,
): string {
  const allowance = allowanceOf(agents);
  const [ours, theirs] = [runs.service.efficiency.median, runs.langGraph.efficiency.median];
  const wanted = [`≥ LangGraph.js – ${allowance}`, ...(least === null ? [] : [`≥ ${least}`])];
  const isMet = ours >= theirs - allowance && ours >= (least ?? 0);
  return verdict(wanted.join(" and "), isMet);
}

/**
 * The contestants that did other work than the scripted run. Their efficiency would mean nothing.
 * The service may make more calls, which costs efficiency.
 */
export function differentRuns({ agents, speed, runs }: Comparison): string[] {
  const ideal = idealCalls(agents);
  return CONTESTANTS.filter((name) => name !== "service")
    .filter((name) => runs[name].calls.min !== ideal || runs[name].calls.max !== ideal)
    .map(
      (name) =>
        `${name} made ${range(runs[name].calls, 0)} calls, not ${ideal}, with ${agents} agents (${speed}).`,
    );
}

const paceText = ({ tokens, pace }: Speed): string =>
  `${pace.ttftMs} ms to the first token, ${tokens} tokens of ${1_000 / pace.tokensPerSecond} ms`;

export function linesOf(comparison: Comparison, speed: Speed): Line[] {
  const { agents, runs, massGen } = comparison;
  const { service, langGraph, bareInWorkerd, bareInNode } = runs;
  const count = `${service.efficiency.runs}`;
  const ideal = idealCalls(agents);
  return [
    {
      figure: `${agents} agents, ${paceText(speed)}: critical path / wall`,
      measured: ratio(service.efficiency),
      runs: count,
      bound: `bare loop: workerd ${ratio(bareInWorkerd.efficiency)}, Node ${ratio(bareInNode.efficiency)}; LangGraph.js ${ratio(langGraph.efficiency)}`,
      aim: judgeEfficiency(comparison, speed),
    },
    {
      figure: "  calls",
      measured: range(service.calls, 0),
      runs: count,
      bound: `${ideal}: every agent answers and votes once, one presents`,
    },
    ...(massGen === null ? [] : [massGenLine(massGen, ideal)]),
  ];
}

const massGenLine = (massGen: MassGenRuns | string, ideal: number): Line => ({
  figure: "  MassGen 0.1.97, from its first request to the last response",
  ...(typeof massGen === "string"
    ? { measured: massGen, runs: "0" }
    : {
        measured: `${ratio(massGen.efficiency)}, ${range(massGen.calls, 0)} calls; whole command ${range(massGen.commandMs, 0)} ms`,
        runs: `${massGen.efficiency.runs}`,
      }),
  bound: `1, and ${ideal} calls`,
});

/** A table for documents. */
export type Table = { head: string[]; rows: string[][] };

/** The table of all comparisons: medians of the efficiency, and the calls of the service. */
export function tableOf(comparisons: readonly Comparison[]): Table {
  const middle = ({ efficiency }: Runs) => efficiency.median.toFixed(3);
  const speedOf = new Map(SPEEDS.map((speed) => [speed.name, speed]));
  const rows = comparisons.map((comparison) => {
    const { agents, runs, massGen } = comparison;
    const speed = speedOf.get(comparison.speed);
    const { service, langGraph, bareInWorkerd, bareInNode } = runs;
    const calls = (of: Runs) => of.calls.median.toFixed(0);
    const isMeasured = massGen !== null && typeof massGen !== "string";
    return [
      speed ? paceText(speed) : "",
      `${agents}`,
      middle(bareInWorkerd),
      middle(bareInNode),
      middle(langGraph),
      isMeasured ? `${middle(massGen)}, ${calls(massGen)} calls` : "",
      middle(service),
      `${calls(service)} (${idealCalls(agents)})`,
      speed ? judgeEfficiency(comparison, speed) : "",
    ];
  });
  return { head: HEAD, rows };
}

const HEAD = [
  "Models",
  "Agents",
  "Bare loop in workerd",
  "Bare loop in Node",
  "LangGraph.js",
  "MassGen 0.1.97",
  "This service",
  "Calls (2N + 1)",
  "Aim",
];
