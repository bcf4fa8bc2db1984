import { costOfFields } from "../cost";
import type { CallEvent, EventOf, ToolEvent } from "../events";
import { emptyStream } from "./stream";
import type { AgentView } from "./types";

/** Events that change only one agent's view. */
export type WorkEvent =
  | CallEvent
  | ToolEvent
  | EventOf<
      | "round.started"
      | "round.failed"
      | "round.nudged"
      | "hosted_tool.completed"
      | "answer.refused"
      | "vote.stale"
      | "vote.refused"
      | "answers.injected"
      | "agent.failed"
      | "agent.abstained"
      | "presentation.started"
    >;

export const newAgent = (id: string, alias: string, at: number): AgentView => ({
  id,
  alias,
  provider: "",
  model: "",
  status: "waiting",
  round: 0,
  answers: 0,
  latestLabel: null,
  leftOut: 0,
  vote: null,
  staleVotes: 0,
  restarts: 0,
  reportedTokens: 0,
  reservedTokens: 0,
  costUsd: 0,
  isCostWhole: true,
  hostedUses: {},
  call: null,
  retryAt: null,
  tools: [],
  inputRequired: null,
  stream: null,
  lastError: null,
  callError: null,
  out: null,
  lastActivityAt: at,
});

/** Resets an agent for a new attempt. Only its identity, model, usage and cost stay. */
export function resetAgent(agent: AgentView, at: number): void {
  const {
    id,
    alias,
    provider,
    model,
    reportedTokens,
    reservedTokens,
    costUsd,
    isCostWhole,
    hostedUses,
  } = agent;
  const charges = { reportedTokens, reservedTokens, costUsd, isCostWhole, hostedUses };
  Object.assign(agent, newAgent(id, alias, at), { provider, model, ...charges });
}

/** Folds one event into `agent`, which it changes in place. */
export function applyWork(agent: AgentView, event: WorkEvent): void {
  agent.lastActivityAt = event.at;
  switch (event.type) {
    case "round.started":
      roundStarted(agent, event);
      return;
    case "presentation.started":
      agent.round = event.round;
      agent.status = "waiting";
      return;
    case "answers.injected":
      agent.restarts += 1;
      if (event.via === "reopened") agent.status = "restarting";
      return;
    case "vote.stale":
      agent.staleVotes += 1;
      return;
    case "round.failed":
      agent.status = "restarting";
      stop(agent, event);
      return;
    case "agent.failed":
      agent.status = isTimeout(event.code) ? "timeout" : "error";
      agent.out = "failed";
      stop(agent, event);
      return;
    case "agent.abstained":
      agent.status = "completed";
      agent.out = "abstained";
      stop(agent, event);
      return;
    case "call.started":
    case "call.deferred":
    case "call.waiting":
    case "call.completed":
    case "call.failed":
      applyCall(agent, event);
      return;
    case "tool.started":
    case "tool.progressed":
    case "tool.input_required":
    case "tool.completed":
    case "tool.interrupted":
    case "tool.unknown":
      applyTool(agent, event);
      return;
    case "hosted_tool.completed":
      agent.hostedUses[event.name] = (agent.hostedUses[event.name] ?? 0) + 1;
      return;
    case "round.nudged":
    case "answer.refused":
    case "vote.refused":
      return; // the view shows the agent's next call instead
    default:
      event satisfies never;
  }
}

function applyTool(agent: AgentView, event: ToolEvent): void {
  switch (event.type) {
    case "tool.started":
      agent.tools.push({ toolCall: event.tool_call, name: event.name });
      return;
    case "tool.progressed": {
      const { origin, progress, total, message } = event;
      const tool = agent.tools.find(({ toolCall }) => toolCall === event.tool_call);
      if (tool) tool.progress = { origin, progress, total, message };
      return;
    }
    case "tool.input_required": {
      const { name: tool, origin, requests, more, at } = event;
      agent.inputRequired = { tool, at, origin, requests, ...(more !== undefined && { more }) };
      return;
    }
    case "tool.completed":
    case "tool.interrupted":
    case "tool.unknown":
      agent.tools = agent.tools.filter(({ toolCall }) => toolCall !== event.tool_call);
      return;
    default:
      event satisfies never;
  }
}

function applyCall(agent: AgentView, event: CallEvent): void {
  switch (event.type) {
    case "call.started":
      agent.provider = event.provider;
      agent.model = event.model;
      agent.call = {
        id: event.call,
        purpose: event.purpose,
        try: event.try,
        startedAt: event.at,
        reserved: { tokens: event.reserved.tokens, ...costOfFields(event.reserved) },
      };
      if (agent.isPutOff) agent.isPutOff = false;
      agent.stream = emptyStream(event.call);
      agent.retryAt = null;
      agent.status = "streaming";
      return;
    case "call.deferred":
    case "call.waiting":
      agent.isPutOff = true;
      agent.status = "waiting";
      return;
    case "call.completed":
      agent.call = null;
      agent.callError = null;
      return;
    case "call.failed":
      agent.call = null;
      agent.retryAt = event.retry_at;
      if (event.class !== "cancelled") {
        // A cancelled call was no longer needed, so it is not an error of the agent.
        agent.lastError = { code: event.code, message: event.message, at: event.at };
        agent.callError = agent.lastError;
      }
      if (agent.out === null) agent.status = "waiting";
      return;
    default:
      event satisfies never;
  }
}

function roundStarted(agent: AgentView, event: EventOf<"round.started">): void {
  if (event.round > 1) agent.restarts += 1;
  agent.status = event.round > 1 ? "restarting" : "waiting";
  agent.round = event.round;
  agent.retryAt = null;
}

function stop(
  agent: AgentView,
  { code, message, at }: { code: string; message: string; at: number },
): void {
  agent.call = null;
  agent.retryAt = null;
  agent.tools = [];
  agent.lastError = { code, message, at };
}

/** Whether the code of a failure means that time ran out. */
export const isTimeout = (code: string): boolean => /timeout|deadline/.test(code);
