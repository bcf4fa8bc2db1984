import { z } from "zod";
import {
  AttachmentSchema,
  ATTACHMENT_LIMITS,
  MOST_PARTS,
  QuestionPartSchema,
  textOfParts,
} from "./attachments";
import { EndedBySchema, UsageSchema } from "./events";
import { HandedFilesSchema, LeftOutSchema } from "./file-events";
import { CitationSchema, HostedToolNameSchema } from "./hosted-tools";
import { InputRequiredSchema } from "./tool-notifications";

/**
 * Requests and responses of the service's own routes, shared by the API, its OpenAPI page and the clients. Strict with what
 * comes in; what goes out may gain fields.
 */

/** Session ids look like `session_01jd…`: time-sortable, lower case. */
export const IdSchema = z.string().regex(/^[a-z0-9_]{10,64}$/, "is not an id");
/** `agent2.1` or `agent2.final`. */
export const LabelSchema = z
  .string()
  .regex(/^agent[1-9][0-9]?\.([1-9][0-9]{0,5}|final)$/, "is not an answer label");

export const MAX_QUESTION_CHARS = 200_000;
/** Far beyond any run, near enough that sums stay exact. */
const MAX_BUDGET_USD = 1_000_000;
const MAX_BUDGET_TOKENS = 1_000_000_000_000;
const MAX_TIMEOUT_SECONDS = 86_400;

export const QuestionSchema = z
  .string()
  .min(1, { error: "is empty", abort: true })
  .max(MAX_QUESTION_CHARS, `is over ${MAX_QUESTION_CHARS} characters`)
  .refine((text) => text.trim() !== "", "is blank")
  .refine((text) => text.isWellFormed(), "is not well-formed Unicode");

/** A question as text, or in parts of which at least one says something. */
const AskedSchema = z.union([
  QuestionSchema,
  z
    .array(QuestionPartSchema)
    .min(1, "is empty")
    .max(MOST_PARTS, `has over ${MOST_PARTS} parts`)
    .superRefine((parts, context) => {
      const text = QuestionSchema.safeParse(textOfParts(parts));
      if (!text.success)
        context.addIssue(
          `${text.error.issues[0]?.message ?? "is no question"}: its text parts are what is asked`,
        );
      const attached = parts.filter(({ type }) => type !== "text").length;
      if (attached > ATTACHMENT_LIMITS.count)
        context.addIssue(`has over ${ATTACHMENT_LIMITS.count} images and files`);
    }),
]);
export type AskedQuestion = z.infer<typeof AskedSchema>;

/** What a question says, whatever comes with it. */
export const textOfQuestion = (asked: AskedQuestion): string =>
  typeof asked === "string" ? asked : textOfParts(asked);

/** A budget below the cheapest first call is refused; so is 0, unless a call costs nothing. */
const BudgetRequestSchema = z.strictObject({
  max_cost_usd: z.number().min(0).max(MAX_BUDGET_USD).optional(),
  max_tokens: z.int().min(0).max(MAX_BUDGET_TOKENS).optional(),
});

const limits = {
  budget: BudgetRequestSchema.optional(),
  timeout_seconds: z.number().min(1).max(MAX_TIMEOUT_SECONDS).optional(),
};

/** As it was sent: a copy made key by key would lose `__proto__`, which the config check refuses. */
export const ConfigObjectSchema = z
  .custom<Record<string, unknown>>(
    (value) => typeof value === "object" && value !== null && !Array.isArray(value),
    {
      message: "Invalid input: expected an object",
    },
  )
  .meta({ type: "object", additionalProperties: {} });

export const RunRequestSchema = z
  .strictObject({
    /** The name of a team on offer or of a model, or a team's config as an object. */
    config: z.union([z.string().min(1).max(200), ConfigObjectSchema]).optional(),
    /** A team's config as YAML text: errors then carry line and column. How long it may be is for who reads configs to say. */
    config_yaml: z.string().min(1).optional(),
    question: AskedSchema,
    ...limits,
  })
  .refine(({ config, config_yaml }) => config === undefined || config_yaml === undefined, {
    path: ["config_yaml"],
    message: "cannot be given together with config",
  })
  .meta({ id: "RunRequest" });
export type RunRequest = z.infer<typeof RunRequestSchema>;

export const TurnRequestSchema = z
  .strictObject({
    question: AskedSchema,
    /** The turn this one follows; absent: the latest. */
    parent_turn: z.int().min(1).optional(),
    ...limits,
  })
  .meta({ id: "TurnRequest" });
export type TurnRequest = z.infer<typeof TurnRequestSchema>;

export const TurnStatusSchema = z.enum(["running", "completed", "failed", "cancelled"]);

/** Paths on the same host. */
const LinksSchema = z.object({
  session: z.string(),
  turn: z.string(),
  events: z.string(),
  cancel: z.string(),
});

/** One place in what the client sent, and what is to be said about it. Line and column count from 1, where there is text. */
export const FaultSchema = z
  .object({
    pointer: z.string(),
    line: z.int().nullish(),
    column: z.int().nullish(),
    detail: z.string(),
    code: z.string().optional(),
    /** The feature that a refusal is about. */
    need: z.string().optional(),
  })
  .meta({ id: "Fault" });
export type Fault = z.infer<typeof FaultSchema>;

export const RunResponseSchema = z
  .object({
    session_id: IdSchema,
    turn: z.int().min(1),
    status: TurnStatusSchema,
    links: LinksSchema,
    /** What in the config runs, but not as its author may think. */
    warnings: z.array(FaultSchema).optional(),
  })
  .meta({ id: "Run" });
export type RunResponse = z.infer<typeof RunResponseSchema>;

/** RFC 9457. `code` is what programs may match on; further members are allowed (`turn`: the one that runs). */
export const ProblemSchema = z
  .looseObject({
    type: z.string().default("about:blank"),
    title: z.string(),
    status: z.int(),
    detail: z.string().optional(),
    code: z.string(),
    request_id: z.string().optional(),
    errors: z.array(FaultSchema).optional(),
  })
  .meta({ id: "Problem" });
export type Problem = z.infer<typeof ProblemSchema>;

const PhaseSchema = z.enum(["initial_answer", "enforcement", "presentation", "done"]);
const AgentStatusSchema = z
  .enum([
    "waiting",
    "streaming",
    "answered",
    "voted",
    "restarting",
    "error",
    "timeout",
    "completed",
  ])
  .describe(
    "`error`: it failed, or the attempt ended or the turn was cancelled before it took part. `timeout`: time ran out first",
  );

const seconds = z.number().describe("Unix time in seconds");
export const FinishReasonSchema = z
  .enum([...EndedBySchema.options, "error", "in_progress"])
  .describe(
    "`in_progress` while the turn runs, `error` if it failed. `consensus`: every agent that did not drop out has voted; `vote_result` says whether they agree",
  );

/** How often tools that the provider runs were used, by tool; those never used are left out. */
const HostedUsesSchema = z.partialRecord(HostedToolNameSchema, z.int());

/** How far the winning answer won. `null` before the attempt is settled and where no answer won. */
const VoteResultSchema = z
  .object({
    /** Votes for the winning answer. */
    votes: z.int(),
    /** All votes that were counted. */
    of: z.int(),
    /** Agents whose vote was counted. */
    voters: z.array(z.string()),
    /** Whether every agent of the team voted, all for the winning answer. `finish_reason` is `consensus` also where they disagree. */
    unanimous: z.boolean(),
  })
  .meta({ id: "VoteResult" });

const tokenFields = {
  tokens: z.int().describe("Input and output: `reported_tokens` and `reserved_tokens` together"),
  reported_tokens: z.int().describe("As providers reported them"),
  reserved_tokens: z
    .int()
    .describe(
      "Of calls that reported no usage: what they had reserved, the most they can have taken",
    ),
};
const costFields = {
  cost_usd: z.number().nullable().describe("null if any part has no known price"),
  cost_usd_known: z.number().describe("The sum of the parts with a known price"),
};

export const AgentStateSchema = z
  .object({
    status: AgentStatusSchema,
    answer_count: z.int(),
    latest_answer_label: z.string().nullable(),
    /** How many files the latest answer leaves out of the agent's answer before; see `left_out` of `answer.submitted`. */
    left_out: z.int(),
    vote_cast: z
      .object({
        voted_for_agent: z.string(),
        voted_for_label: z.string(),
        reason_preview: z.string(),
      })
      .nullable(),
    times_restarted: z.int(),
    last_activity: seconds,
    error: z.object({ type: z.string(), message: z.string(), timestamp: seconds }).nullable(),
    /** What one of its tool servers wanted of a person, the latest; nobody has answered it. */
    input_required: InputRequiredSchema.extend({ tool: z.string(), timestamp: seconds }).nullable(),
    provider: z.string(),
    model: z.string(),
    round: z.int(),
    stale_votes: z.int(),
    ...tokenFields,
    ...costFields,
    hosted_uses: HostedUsesSchema,
  })
  .meta({ id: "AgentState" });

export const TurnSummarySchema = z
  .object({
    turn: z.int(),
    parent_turn: z.int().nullable(),
    status: TurnStatusSchema,
    question_preview: z.string(),
    started_at: seconds,
    ended_at: seconds.nullable(),
    finish_reason: FinishReasonSchema,
    usage: UsageSchema,
    ...tokenFields,
    ...costFields,
    unreported_cost_usd: z
      .number()
      .nullable()
      .describe(
        "The part of the cost that calls without a report had reserved, the most they can have cost; null if one of them has no known price",
      ),
  })
  .meta({ id: "TurnSummary" });

/** MassGen's `status.json` of the latest turn, with the session's turns, usage and cost. */
export const SessionStatusSchema = z
  .object({
    meta: z.object({
      session_id: z.string(),
      turn: z.int(),
      question: z.string(),
      start_time: seconds,
      last_updated: seconds,
      elapsed_seconds: z.number(),
      last_sequence: z.int(),
    }),
    coordination: z.object({
      phase: PhaseSchema,
      attempt: z.int(),
      active_agent: z.string().nullable(),
      completion_percentage: z.int(),
      is_final_presentation: z.boolean(),
    }),
    agents: z.record(z.string(), AgentStateSchema),
    results: z.object({
      votes: z.record(z.string(), z.int()),
      vote_result: VoteResultSchema.nullable(),
      winner: z.string().nullable(),
      final_answer_preview: z.string().nullable(),
      finish_reason: FinishReasonSchema,
    }),
    turns: z.array(TurnSummarySchema),
    usage: UsageSchema,
    ...tokenFields,
    ...costFields,
  })
  .meta({ id: "SessionStatus" });
export type SessionStatus = z.infer<typeof SessionStatusSchema>;

export const VoteSchema = z
  .object({
    agent: z.string(),
    label: z.string(),
    voted_for_agent: z.string(),
    reason: z.string(),
    valid: z.boolean(),
    voided_by: z.string().nullable(),
  })
  .meta({ id: "Vote" });

/** How an agent stands in an attempt. It took part if it has an accepted answer or a valid vote there. */
export const ParticipantSchema = z
  .object({
    agent: z.string(),
    status: AgentStatusSchema,
    took_part: z.boolean(),
    /** Why it dropped out or has no part; `null` if it stayed to the end. */
    error: z.object({ code: z.string(), message: z.string() }).nullable(),
  })
  .meta({ id: "Participant" });

export const AnswerSummarySchema = z
  .object({
    agent: z.string(),
    label: z.string(),
    revision: z.int(),
    origin: z.enum(["tool", "partial"]),
    /** Whose files go with the answer, as in `answer.submitted`; absent: its author has no files. */
    files: HandedFilesSchema.optional(),
    /** Files of its author's previous answer that are missing and that were not deleted; absent: none. */
    left_out: LeftOutSchema.optional(),
  })
  .meta({ id: "AnswerSummary" });

export const AttemptSchema = z
  .object({
    attempt: z.int(),
    /** All agents of the team, in the config's order. */
    agents: z.array(ParticipantSchema),
    winner: z.string().nullable(),
    label: z.string().nullable(),
    tally: z.record(z.string(), z.int()),
    tie: z.boolean(),
    vote_result: VoteResultSchema.nullable(),
    finish_reason: EndedBySchema.nullable(),
    answers: z.array(AnswerSummarySchema),
    votes: z.array(VoteSchema),
    presentation: z
      .object({
        agent: z.string(),
        label: z.string(),
        source: z.enum(["presentation", "answer", "partial"]),
        fallback: z.string().nullable(),
        /** How many files the presenter had changed when it was cut off; they are handed over. Absent: none. */
        changed_files: z.int().optional(),
      })
      .nullable(),
    restart: z
      .object({ agent: z.string(), reason: z.string(), instructions: z.string() })
      .nullable(),
  })
  .meta({ id: "Attempt" });

export const TurnResponseSchema = TurnSummarySchema.omit({ question_preview: true })
  .extend({
    session_id: z.string(),
    question: z.string(),
    /** Images and files that came with the question; absent: none. */
    attachments: z.array(AttachmentSchema).optional(),
    /** The final answer; null while there is none. */
    answer: z.string().nullable(),
    winner: z.string().nullable(),
    label: z.string().nullable(),
    /** Sources of the final answer, each address once; none where an answer stands in for its presentation. */
    citations: z.array(CitationSchema),
    /** All agents of the team, as the latest attempt left them. */
    agents: z.array(
      ParticipantSchema.extend({ provider: z.string(), model: z.string() }).meta({
        id: "TurnAgent",
      }),
    ),
    /** By agent. */
    hosted_uses: z.record(z.string(), HostedUsesSchema),
    /** Of the latest attempt, voided ones among them. */
    votes: z.array(VoteSchema),
    attempts: z.array(AttemptSchema),
    error: z
      .object({
        code: z.string(),
        message: z.string(),
        agents: z.array(z.object({ agent: z.string(), code: z.string(), message: z.string() })),
      })
      .nullable(),
    /** What a cancelled turn leaves. */
    partial: z
      .object({
        winner: z.string().nullable(),
        answer: z.string().nullable(),
        text: z.string().nullable(),
      })
      .nullable(),
  })
  .meta({ id: "Turn" });
export type TurnResponse = z.infer<typeof TurnResponseSchema>;
