import { ulid } from "ulid";
import type { StartTurn } from "../../durable-objects/session-api";
import { parseTeam } from "../config/parse-team";
import type { Team } from "../config/team";
import { type RunRequest, RunRequestSchema, type RunResponse, runLinks, TurnRequestSchema } from "../protocol/api";
import { STREAM_CODE_HEADER, streamUrl } from "../protocol/stream-request";
import { ApiError } from "./errors";
import { readBody } from "./read-body";
import { type App, type Call, refuse, route, sessionOf } from "./routes";
import type { SessionStub } from "./services";

/** Starting work: a new session with its first turn, or the next turn of one. */
export function runRoutes(app: App): void {
  route(app, "/api/runs", { post: createRun });
  route(app, "/api/sessions/:id/turns", { post: createTurn });
}

async function createRun(context: Call): Promise<Response> {
  const body = await readBody(context.req.raw, RunRequestSchema);
  const team = teamOf(context, body);
  const id = `session_${ulid().toLowerCase()}`;
  const stub = context.env.session(id);
  const started = await stub.create(id, team, toStart(body, null));
  if (!started.ok) throw new ApiError("internal", "The session could not be started.");
  return answer(context, { id, stub, turn: started.turn });
}

async function createTurn(context: Call): Promise<Response> {
  const { id, stub } = sessionOf(context);
  const body = await readBody(context.req.raw, TurnRequestSchema);
  const started = await stub.startTurn(toStart(body, body.parent_turn ?? null));
  if (started.ok) return answer(context, { id, stub, turn: started.turn });
  if (started.code !== "turn_running") return refuse(started.code);
  const message = `Turn ${started.turn} is still running. Wait for its end, or cancel it.`;
  throw new ApiError("turn_running", message, { turn: started.turn });
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

/** The team asked for, by name, as an object or as YAML. Throws with every problem of its config. */
function teamOf({ env }: Call, { config, config_yaml }: RunRequest): Team {
  const named = typeof config === "string" || config === undefined;
  const source = config_yaml ?? (named ? env.teams[config ?? "demo"] : config);
  if (source === undefined) {
    throw new ApiError("unknown_team", `There is no team of that name. On offer: ${Object.keys(env.teams).join(", ")}.`);
  }
  const result = parseTeam(source, env.config);
  if (result.ok) return result.team;
  const [first] = result.errors;
  const place = first?.line ? `line ${first.line}: ` : "";
  const rest = result.errors.length > 1 ? ` (and ${result.errors.length - 1} more)` : "";
  throw new ApiError("config_invalid", `${place}${first?.detail}${rest}`, { errors: result.errors });
}

type Running = { id: string; stub: SessionStub; turn: number };

/** 202 with links, or, for who asks for it, the turn's stream itself. */
async function answer(context: Call, { id, stub, turn }: Running): Promise<Response> {
  const links = runLinks(id, turn);
  if (!context.req.header("accept")?.includes("text/event-stream")) {
    const body: RunResponse = { session_id: id, turn, status: "running", links };
    return context.json(body, 202, { location: links.session });
  }
  const stream = await stub.fetch(streamUrl({ after: 0, turn, deltas: true }));
  const headers = new Headers(stream.headers);
  headers.delete(STREAM_CODE_HEADER);
  headers.set("location", links.session);
  return new Response(stream.body, { headers });
}
