import * as z from "zod";
import { lazy } from "../../async/lazy";
import type {
  RepeatTurn,
  StartRefusal,
  StartTurn,
} from "../../../durable-objects/session/session-api";
import type { Team } from "../../config/team";
import { ATTACHMENT_LIMITS } from "../../protocol/attachments";
import { type TeamRules, unpricedAgents } from "../../protocol/team";
import { TurnStartSchema } from "../../protocol/api/run";
import {
  CompactRequestSchema,
  type RunRequest,
  RunRequestSchema,
  type RunResponse,
  RunResponseSchema,
  type TurnRequest,
  TurnRequestSchema,
} from "../../protocol/api";
import { runLinks } from "../../protocol/paths";
import { TURN_LIST_OPERATION } from "./turn-tree";
import type { App, Call } from "../api-env";
import { openStream, preferredForm, withWarnings } from "./streams";
import { ApiError, type ErrorCode, type Fault } from "../errors";
import { attachmentError, type Question, toQuestion } from "./question-parts";
import { busyError, QUEUE_TEXT, queuedWarnings, respondQueued } from "./queue";
import { COMPACT_REQUEST, RUN_REQUEST, RUN_WARNED, STREAM, TURN_REQUEST } from "./examples";
import { header, ID, IDEMPOTENCY, json, type Operation } from "../operation";
import { budgetError, lengthError, priceError, quotaError } from "./quota-refusals";
import { readBodyAndText } from "../bodies/read-body";
import { notFound, route, sessionOf } from "../routes";
import type { SessionStub } from "../services";
import {
  beginStart,
  claimTurn,
  confirmStart,
  findStart,
  readKey,
  type Start,
  withdrawStart,
} from "./start-once";

/** It contains the parser of configs. */
const teamReader = lazy(() => import("../configs/read-team"));

const LOCATION = header("location", "Path of the session");

const START_RESPONSES = {
  202: { ...json("Started", RunResponseSchema, RUN_WARNED), headers: LOCATION },
  200: {
    description: "The event stream of the turn, if `accept` prefers it",
    content: { "text/event-stream": { schema: z.string(), example: STREAM } },
    headers: {
      ...LOCATION,
      ...header("x-config-warnings", "Number of config warnings at the start of the stream"),
    },
  },
};
const BODY_CODES = [
  "bad_json",
  "body_too_large",
  "unsupported_media_type",
  "request_invalid",
  "config_invalid",
  "unknown_team",
  "overrides_invalid",
  "price_unknown",
  "budget_too_small",
  "question_too_long",
  "context_missing",
  "context_too_large",
  "context_conflicts",
  "attachment_refused",
  "attachment_not_found",
  "attachments_too_large",
  "bad_idempotency_key",
  "idempotency_key_reused",
  "spend_exceeded",
  "storage_exceeded",
  "quota_exceeded",
] as const satisfies readonly ErrorCode[];

/** Maximum size of images and files in a body, in base64. */
const MAX_ATTACHMENT_BYTES = Math.ceil((ATTACHMENT_LIMITS.bytes * 4) / 3);

const PARTS_TEXT =
  "A question is text, or a list of parts: text, images (PNG, JPEG, GIF, WebP) and files (images, PDF, audio as WAV, MP3, Ogg or FLAC, UTF-8 text) in base64. Every call of the turn sends them to the models. The request is refused if a model of the team does not support one of them.";

const RUN_OPERATION: Operation = {
  id: "startRun",
  tag: "Runs",
  summary: "Start a session with its first turn",
  description: `The team is a name, or a config as an object or as YAML in MassGen's format. ${PARTS_TEXT}`,
  request: {
    headers: IDEMPOTENCY,
    body: { "application/json": { schema: RunRequestSchema, example: RUN_REQUEST } },
  },
  responses: START_RESPONSES,
  codes: [...BODY_CODES, "session_not_found"],
  handle: createRun,
};

const TURN_OPERATION: Operation = {
  id: "startTurn",
  tag: "Runs",
  summary: "Ask a session the next question",
  description: `The turn uses the team of the turn that it follows, unless the request names another team. ${PARTS_TEXT} Attachments of earlier turns are mentioned to the agents, but not sent again. To send one again, use a part with its \`sha256\` in place of \`data\`. \`repeat_turn\` asks the question of a turn again. ${QUEUE_TEXT}`,
  request: {
    params: ID,
    headers: IDEMPOTENCY,
    body: { "application/json": { schema: TurnRequestSchema, example: TURN_REQUEST } },
  },
  responses: {
    ...START_RESPONSES,
    202: {
      ...json("Started, or queued if the session is busy", TurnStartSchema, RUN_WARNED),
      headers: LOCATION,
    },
  },
  codes: [
    ...BODY_CODES,
    ...(["bad_id", "session_not_found", "turn_not_found"] as const),
    ...(["turn_running", "queue_not_empty", "queue_full"] as const),
  ],
  handle: createTurn,
};

const COMPACT_OPERATION: Operation = {
  id: "compactSession",
  tag: "Runs",
  summary: "Summarise the conversation so far",
  description:
    "Starts a turn that writes a summary of all turns until the head, and asks no question. Later turns read it in place of these turns. The turn has a number, a budget and events like any other, but it does not become the head, and no turn can follow it. Long conversations are summarised without this request.",
  request: {
    params: ID,
    headers: IDEMPOTENCY,
    body: { "application/json": { schema: CompactRequestSchema, example: COMPACT_REQUEST } },
  },
  responses: START_RESPONSES,
  codes: [
    ...(["bad_json", "body_too_large", "unsupported_media_type", "request_invalid"] as const),
    ...(["price_unknown", "budget_too_small", "bad_idempotency_key"] as const),
    ...(["idempotency_key_reused", "spend_exceeded", "storage_exceeded"] as const),
    ...(["quota_exceeded", "bad_id", "session_not_found"] as const),
    ...(["nothing_to_summarise", "turn_running", "queue_not_empty"] as const),
  ],
  handle: compactSession,
};

/** Routes that start a session with its first turn, or the next turn of a session. */
export function runRoutes(app: App): void {
  route(app, "/api/runs", { post: RUN_OPERATION });
  route(app, "/api/sessions/{id}/compact", { post: COMPACT_OPERATION });
  route(app, "/api/sessions/{id}/turns", { get: TURN_LIST_OPERATION, post: TURN_OPERATION });
}

async function createRun(context: Call): Promise<Response> {
  const { value: body, text } = await readBodyAndText(
    context.req.raw,
    RunRequestSchema,
    MAX_ATTACHMENT_BYTES,
  );
  const key = await readKey(context, text);
  const earlier = key && (await findStart(context, key));
  if (earlier && (await earlier.stub.turn(1)).ok) return confirmAndRespond(context, earlier, 1);
  const question = await toQuestion(body.question);
  const { readTeam } = await teamReader();
  const { team, warnings } = await readTeam(context, body, namesOf(body.question));
  // Overrides may give an agent another model; then the session checks the prices.
  if (!body.overrides) requirePrices(team.rules, body.budget);
  const start = await beginStart(context, key, { question: question.text, warnings });
  const started = await start.stub.create(start.id, team, toStart(body, question));
  if (!started.ok) {
    await withdrawStart(context, key, start);
    throw startError(started);
  }
  const given = [...start.warnings, ...(started.warnings ?? [])];
  return confirmAndRespond(context, { ...start, warnings: given }, started.turn);
}

/**
 * Confirms the start and responds. A repeated request confirms it too, because the request that
 * created the session may have been aborted.
 */
function confirmAndRespond(context: Call, start: Start, turn: number): Promise<Response> {
  context.env.tenancy.later(confirmStart(context, start));
  return respond(context, { ...start, turn });
}

/** `mayQueue`: whether a busy session could queue the request. */
function startError(refusal: StartRefusal, { mayQueue }: { mayQueue: boolean } = QUEUES): ApiError {
  switch (refusal.code) {
    case "quota_exceeded":
    case "spend_exceeded":
    case "storage_exceeded":
      return quotaError(refusal);
    case "attachment_not_found":
    case "attachments_too_large":
    case "attachment_refused":
      return attachmentError(refusal);
    case "overrides_invalid":
      return overridesError(refusal.problems);
    case "price_unknown":
      return priceError(refusal);
    case "budget_too_small":
      return budgetError(refusal);
    case "question_too_long":
      return lengthError(refusal);
    case "context_missing": {
      const commands = refusal.names.map((name) => `\`massgen-edge push --name ${name}\``);
      const message = `Contexts of the run are not uploaded. Run ${commands.join(", ")} in the folder to upload, then retry.`;
      return new ApiError("context_missing", message, { contexts: refusal.names });
    }
    case "context_too_large": {
      const message = `The contexts of the turn have ${refusal.files} files; the limit of a turn is ${refusal.most}. Upload fewer files, or use fewer contexts.`;
      return new ApiError("context_too_large", message);
    }
    case "context_conflicts": {
      const { conflicts, more } = refusal;
      const message =
        "The turn that this one follows and a newer version of a context changed the same files. Send `context_conflicts` to name the side that wins: `turn` or `upload`. To decide file by file, pull the turn's changes, resolve the conflicts, push, and send `upload`.";
      const members = { conflicts, ...(more > 0 && { conflicts_more: more }) };
      return new ApiError("context_conflicts", message, members);
    }
    case "turn_running":
    case "queue_not_empty":
    case "queue_full":
      return busyError(refusal, mayQueue);
    case "request_too_long_to_wait": {
      const { bytes, most } = refusal;
      const message = `The session is busy, and a request that waits may have ${most} bytes with its team; this one has ${bytes}. Wait until the turn ends, or send less.`;
      return new ApiError("body_too_large", message, { limit: most });
    }
    case "nothing_to_summarise":
      return new ApiError(
        "nothing_to_summarise",
        "There is nothing to summarise: a summary covers all turns until the head already.",
      );
    case "session_not_found":
    case "turn_not_found":
      return notFound(refusal.code);
  }
}

const QUEUES = { mayQueue: true };

function overridesError(problems: readonly Fault[]): ApiError {
  const [first] = problems;
  const rest = problems.length > 1 ? ` (and ${problems.length - 1} more)` : "";
  return new ApiError("overrides_invalid", `${first?.detail}${rest}`, { errors: problems });
}

async function createTurn(context: Call): Promise<Response> {
  const { id, stub } = await sessionOf(context);
  const { body, turn, parsed, key } = await readTurn(context, stub);
  const startId = key && (await claimTurn(context, key, id));
  const started = await stub.startTurn({ ...turn, ...(startId && { startId }) }, body.on_busy);
  if (!started.ok) throw startError(started);
  if ("queued" in started) {
    const { queued } = started;
    const warnings = await queuedWarnings(parsed, body);
    return respondQueued(context, { session: id, queued, warnings });
  }
  const warnings = [...(parsed?.warnings ?? []), ...(started.warnings ?? [])];
  return respond(context, { id, stub, turn: started.turn, warnings });
}

async function compactSession(context: Call): Promise<Response> {
  const { id, stub } = await sessionOf(context);
  const { value: body, text } = await readBodyAndText(context.req.raw, CompactRequestSchema);
  const key = await readKey(context, text);
  const startId = key && (await claimTurn(context, key, id));
  const { budget, timeoutMs } = limitsOf(body);
  const started = await stub.compact({ budget, timeoutMs, ...(startId && { startId }) });
  if (!started.ok) throw startError(started, { mayQueue: false });
  return respond(context, { id, stub, turn: started.turn, warnings: [] });
}

/**
 * Reads the request for a turn. Reports errors in the body only if the caller's session exists;
 * otherwise throws `session_not_found`.
 */
async function readTurn(context: Call, stub: SessionStub) {
  try {
    const { value: body, text } = await readBodyAndText(
      context.req.raw,
      TurnRequestSchema,
      MAX_ATTACHMENT_BYTES,
    );
    const key = await readKey(context, text);
    const parsed = await teamOf(context, body);
    return { body, turn: await turnToStart(body, parsed?.team ?? null), parsed, key };
  } catch (error) {
    if ((await stub.turn(1)).ok) throw error;
    throw notFound("session_not_found");
  }
}

/** The team that a request for a turn brings; `null` if it brings none. */
async function teamOf(context: Call, body: TurnRequest) {
  if (body.config === undefined && body.config_yaml === undefined) return null;
  const { readTeam } = await teamReader();
  return readTeam(context, body, namesOf(body.question));
}

/** `team`: the team that the request brings. */
async function turnToStart(body: TurnRequest, team: Team | null): Promise<StartTurn | RepeatTurn> {
  const { question = "", parent_turn: parentTurn, repeat_turn: repeats } = body;
  if (repeats !== undefined) return { ...limitsOf(body), repeats };
  return {
    ...toStart(body, await toQuestion(question)),
    ...(parentTurn !== undefined && { parentTurn }),
    ...(team && { team }),
  };
}

type TurnFields = Pick<
  RunRequest,
  "budget" | "timeout_seconds" | "contexts" | "context_conflicts" | "overrides"
>;

const toStart = (body: TurnFields, { text, attachments }: Question): StartTurn => ({
  question: text,
  ...(attachments.length > 0 && { attachments }),
  ...(body.contexts && {
    grants: body.contexts.map(({ name, permission = "read" }) => ({ name, permission })),
  }),
  ...limitsOf(body),
});

function limitsOf(body: TurnFields): Pick<StartTurn, "budget" | "timeoutMs" | "conflictWinner"> {
  const { max_cost_usd, max_tokens } = body.budget ?? {};
  return {
    budget: {
      ...(max_cost_usd === undefined ? {} : { max_cost_usd }),
      ...(max_tokens === undefined ? {} : { max_tokens }),
    },
    ...(body.context_conflicts && { conflictWinner: body.context_conflicts }),
    ...(body.overrides && { overrides: body.overrides }),
    timeoutMs: body.timeout_seconds === undefined ? null : Math.round(body.timeout_seconds * 1000),
  };
}

/** Throws `price_unknown` if the run has a cost limit and the price of a model is not known. */
function requirePrices(rules: TeamRules, budget: RunRequest["budget"]): void {
  if (budget?.max_cost_usd === undefined) return;
  const unpriced = unpricedAgents(rules);
  if (unpriced.length > 0) throw priceError({ ok: false, code: "price_unknown", agents: unpriced });
}

/** Names of the question's attachments. Configs can refer to these names. */
const namesOf = (question: TurnRequest["question"] = ""): string[] =>
  typeof question === "string"
    ? []
    : question.flatMap((part) =>
        part.type === "text" || part.name === undefined ? [] : [part.name],
      );

type RunningTurn = { id: string; stub: SessionStub; turn: number; warnings: readonly Fault[] };

/**
 * Responds with 202 and links, or with the turn's event stream if the client prefers the stream and
 * the session can open it.
 */
async function respond(
  context: Call,
  { id, stub, turn, warnings }: RunningTurn,
): Promise<Response> {
  const links = runLinks(id, turn);
  const opened =
    preferredForm(context, "json") === "stream"
      ? await openStream(stub, { after: 0, turn, deltas: true })
      : null;
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
