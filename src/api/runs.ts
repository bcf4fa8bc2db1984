import { z } from "@hono/zod-openapi";
import type { StartRefusal, StartTurn } from "../../durable-objects/session-api";
import { parseTeam } from "../config/parse-team";
import type { Team } from "../config/team";
import { type TeamRules, unpricedAgents } from "../protocol/team";
import {
  type RunRequest,
  RunRequestSchema,
  type RunResponse,
  RunResponseSchema,
  runLinks,
  TurnRequestSchema,
} from "../protocol/api";
import type { App, Call } from "./api-env";
import { wantedForm } from "./accept";
import { ApiError, type ErrorCode, type Fault } from "./errors";
import { RUN_REQUEST, RUN_WARNED, STREAM, TURN_REQUEST } from "./examples";
import { openStream } from "./open-stream";
import { header, json, type Operation } from "./operation";
import { ID, IDEMPOTENCY } from "./parameters";
import { quotaError } from "./quota-refusals";
import { readBodyAndText } from "./read-body";
import { notFound, route, sessionOf } from "./routes";
import type { SessionStub } from "./services";
import { beginStart, claimTurn, confirmStart, findStart, readKey, type Start, withdrawStart } from "./start-once";
import { withWarnings } from "./stream-warnings";
import { teamSource } from "./teams";

const LOCATION = header("location", "The session's address");

const STARTED = {
  202: { ...json("Started", RunResponseSchema, RUN_WARNED), headers: LOCATION },
  200: {
    description: "The turn's stream, if `accept` likes that better",
    content: { "text/event-stream": { schema: z.string(), example: STREAM } },
    headers: { ...LOCATION, ...header("x-config-warnings", "How many warnings of the config the stream begins with") },
  },
};
const BODY_CODES = [
  "bad_json",
  "body_too_large",
  "unsupported_media_type",
  "request_invalid",
  "price_unknown",
  "bad_idempotency_key",
  "idempotency_key_reused",
  "spend_exceeded",
  "quota_exceeded",
] as const satisfies readonly ErrorCode[];

const RUN_OPERATION: Operation = {
  id: "startRun",
  tag: "Runs",
  summary: "Start a session with its first turn",
  description: "A team is named, or given as an object or as YAML in MassGen's grammar.",
  request: { headers: IDEMPOTENCY, body: { "application/json": { schema: RunRequestSchema, example: RUN_REQUEST } } },
  answers: STARTED,
  codes: [...BODY_CODES, "config_invalid", "unknown_team", "session_not_found"],
  handle: createRun,
};

const TURN_OPERATION: Operation = {
  id: "startTurn",
  tag: "Runs",
  summary: "Ask a session the next question",
  request: {
    params: ID,
    headers: IDEMPOTENCY,
    body: { "application/json": { schema: TurnRequestSchema, example: TURN_REQUEST } },
  },
  answers: STARTED,
  codes: [...BODY_CODES, "bad_id", "session_not_found", "turn_not_found", "turn_running"],
  handle: createTurn,
};

/** Starting work: a new session with its first turn, or the next turn of one. */
export function runRoutes(app: App): void {
  route(app, "/api/runs", { post: RUN_OPERATION });
  route(app, "/api/sessions/{id}/turns", { post: TURN_OPERATION });
}

async function createRun(context: Call): Promise<Response> {
  const { value: body, text } = await readBodyAndText(context.req.raw, RunRequestSchema);
  const key = await readKey(context, text);
  const earlier = key && (await findStart(context, key));
  if (earlier && (await earlier.stub.turn(1)).ok) return confirmed(context, earlier, 1);
  const { team, warnings } = teamOf(context, body);
  requirePrices(team.rules, body.budget);
  const start = await beginStart(context, key, { question: body.question, warnings });
  const started = await start.stub.create(start.id, team, toStart(body, null));
  if (!started.ok) {
    await withdrawStart(context, key, start);
    throw startError(started);
  }
  return confirmed(context, start, started.turn);
}

/** Whoever finds the session there confirms it: the one who made it may be gone. */
function confirmed(context: Call, start: Start, turn: number): Promise<Response> {
  context.env.tenancy.later(confirmStart(context, start));
  return answer(context, { ...start, turn });
}

function startError(refusal: StartRefusal): ApiError {
  switch (refusal.code) {
    case "quota_exceeded":
    case "spend_exceeded":
      return quotaError(refusal);
    case "price_unknown":
      return priceUnknown(refusal.agents);
    case "turn_running": {
      const message = `Turn ${refusal.turn} is still running. Wait for its end, or cancel it.`;
      return new ApiError("turn_running", message, { turn: refusal.turn });
    }
    case "session_not_found":
    case "turn_not_found":
      return notFound(refusal.code);
  }
}

async function createTurn(context: Call): Promise<Response> {
  const { id, stub } = sessionOf(context);
  const { body, key } = await readTurn(context, stub);
  const startId = key && (await claimTurn(context, key, id));
  const started = await stub.startTurn({ ...toStart(body, body.parent_turn ?? null), ...(startId && { startId }) });
  if (!started.ok) throw startError(started);
  return answer(context, { id, stub, turn: started.turn, warnings: [] });
}

/** What is wrong with a request is said to those whose session it is; to all others there is no session. */
async function readTurn(context: Call, stub: SessionStub) {
  try {
    const { value: body, text } = await readBodyAndText(context.req.raw, TurnRequestSchema);
    return { body, key: await readKey(context, text) };
  } catch (error) {
    if ((await stub.turn(1)).ok) throw error;
    throw notFound("session_not_found");
  }
}

function toStart(body: Pick<RunRequest, "question" | "budget" | "timeout_seconds">, parentTurn: number | null): StartTurn {
  const { max_cost_usd, max_tokens } = body.budget ?? {};
  return {
    question: body.question,
    parentTurn,
    budget: { ...(max_cost_usd === undefined ? {} : { max_cost_usd }), ...(max_tokens === undefined ? {} : { max_tokens }) },
    timeoutMs: body.timeout_seconds === undefined ? null : Math.round(body.timeout_seconds * 1000),
  };
}

/** A cap in dollars binds only where every price is known. */
function requirePrices(rules: TeamRules, budget: RunRequest["budget"]): void {
  if (budget?.max_cost_usd === undefined) return;
  const unpriced = unpricedAgents(rules);
  if (unpriced.length > 0) throw priceUnknown(unpriced);
}

function priceUnknown(agents: readonly string[]): ApiError {
  const message = `The price of ${agents.join(", ")} is not known, so a cap in dollars cannot hold. Cap the run with budget.max_tokens instead.`;
  return new ApiError("price_unknown", message, { agents });
}

/** The team asked for, by name, as an object or as YAML. Throws with every problem of its config. */
function teamOf({ env }: Call, request: RunRequest): { team: Team; warnings: readonly Fault[] } {
  const { name, source } = teamSource(env.teams, request);
  const result = parseTeam(source, env.config);
  if (result.ok) return { team: result.team, warnings: result.warnings };
  const [first] = result.errors;
  const team = name === null ? "" : `The team "${name}" cannot run here: `;
  const place = team || (first?.line ? `line ${first.line}: ` : "");
  const rest = result.errors.length > 1 ? ` (and ${result.errors.length - 1} more)` : "";
  throw new ApiError("config_invalid", `${place}${first?.detail}${rest}`, { errors: result.errors });
}

type Running = { id: string; stub: SessionStub; turn: number; warnings: readonly Fault[] };

/** 202 with links, or, for who asks for it and can have it, the turn's stream itself. */
async function answer(context: Call, { id, stub, turn, warnings }: Running): Promise<Response> {
  const links = runLinks(id, turn);
  const opened = wantedForm(context, "json") === "stream" ? await openStream(stub, { after: 0, turn, deltas: true }) : null;
  if (opened?.code === "open") {
    opened.response.headers.set("location", links.session);
    return withWarnings(opened.response, warnings);
  }
  const body: RunResponse = {
    session_id: id,
    turn,
    status: "running",
    links,
    ...(warnings.length > 0 ? { warnings: [...warnings] } : {}),
  };
  return context.json(body, 202, { location: links.session });
}
