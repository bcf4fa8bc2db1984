import * as z from "zod";
import { FaultSchema, ProblemSchema, RunResponseSchema } from "../../src/protocol/api";
import { QueuedResponseSchema } from "../../src/protocol/api/queue";
import { WireEventSchema } from "../../src/protocol/events";
import { OverridesSchema } from "../../src/protocol/turn-team";

/**
 * The response fields that the command line reads. Other fields are ignored, so that an older
 * program works with a newer service.
 */

export { ProblemSchema, RunResponseSchema, WireEventSchema };

/** The file that `login` writes. `keys`: origin of the server → key. */
export const CredentialsSchema = z.object({
  server: z.string().nullable(),
  keys: z.record(z.string(), z.string()),
});
export type Credentials = z.infer<typeof CredentialsSchema>;

/** `folders`: absolute path of a folder → SHA-256 of its allowed config, in hex. */
export const ConsentsSchema = z.object({ folders: z.record(z.string(), z.string()) });

/**
 * `servers`: origin of a service → the session that was used last, and the same for each folder, by
 * its absolute path. The folder that was used last comes last.
 */
export const LastSessionsSchema = z.object({
  servers: z.record(
    z.string(),
    z.object({ session: z.string(), folders: z.record(z.string(), z.string()) }),
  ),
});

/** The files of a turn's result or of an answer. `label`: `null` if the turn has no result. */
export const FileListSchema = z.object({
  label: z.string().nullable(),
  attempt: z.number().default(1),
  data: z.array(
    z.object({
      path: z.string(),
      sha256: z.string(),
      size: z.number(),
      executable: z.boolean().optional(),
      content_type: z.string().optional(),
    }),
  ),
});
export type FileList = z.infer<typeof FileListSchema>;

export const HealthSchema = z.object({ status: z.string(), version: z.string().optional() });
/** The service's version in its OpenAPI document. */
export const DocumentSchema = z.object({ info: z.object({ version: z.string() }) });

/** `cost_usd`: `null` if any part has no known price; `cost_usd_known`: the sum of the rest. */
export const costFacts = {
  cost_usd: z.number().nullable().default(0),
  cost_usd_known: z.number().default(0),
};

const AgentFactsSchema = z.object({
  status: z.string(),
  answer_count: z.number(),
  latest_answer_label: z.string().nullish(),
  left_out: z.number().default(0),
  vote_cast: z.object({ voted_for_label: z.string() }).nullish(),
  error: z.object({ message: z.string() }).nullish(),
});

/** A session's status. */
export const SessionFactsSchema = z.object({
  meta: z.object({ question: z.string(), elapsed_seconds: z.number() }).optional(),
  coordination: z.object({ phase: z.string(), completion_percentage: z.number() }).optional(),
  agents: z.record(z.string(), AgentFactsSchema).default({}),
  /** Services before this field have the latest turn as head. */
  head: z.int().nullish(),
  turns: z.array(
    z.object({
      turn: z.int().min(1),
      kind: z.string().optional(),
      status: z.string().default(""),
      parent_turn: z.int().nullish(),
      question_preview: z.string().default(""),
    }),
  ),
  ...costFacts,
});
export type SessionFacts = z.infer<typeof SessionFactsSchema>;

/** All turns of a session, and its head. */
export const TreeFactsSchema = z.object({
  data: z.array(
    z.object({
      turn: z.int().min(1),
      parent_turn: z.int().nullish(),
      kind: z.string().optional(),
      status: z.string(),
      question_preview: z.string().default(""),
      team: z.array(z.object({ agent: z.string(), model: z.string().default("") })).default([]),
      overrides: OverridesSchema.optional(),
      started_at: z.number(),
      ended_at: z.number().nullable().default(null),
      ...costFacts,
    }),
  ),
  head: z.int(),
});
export type TreeFacts = z.infer<typeof TreeFactsSchema>;

const reasonFacts = z.object({ code: z.string(), message: z.string() });

/** The questions that wait in a session. */
export const QueueFactsSchema = z.object({
  held: reasonFacts.nullish(),
  waiting: reasonFacts.nullish(),
  data: z.array(
    z.object({
      id: z.string(),
      position: z.int(),
      question_preview: z.string().default(""),
      interrupts: z.boolean().default(false),
    }),
  ),
});
export type QueueFacts = z.infer<typeof QueueFactsSchema>;

export const QueuedFactsSchema = z.object({ turn: z.int().nullable() });

/** A response to a question: its turn, or its place in the queue. */
export const StartedSchema = z.union([RunResponseSchema, QueuedResponseSchema]);
export type StartAnswer = z.infer<typeof StartedSchema>;

export const HeadFactsSchema = z.object({ head: z.int() });
export type HeadFacts = z.infer<typeof HeadFactsSchema>;

const VoteFactsSchema = z.object({
  agent: z.string(),
  label: z.string(),
  reason: z.string(),
  valid: z.boolean(),
});
const UsageFactsSchema = z.object({ input_tokens: z.number(), output_tokens: z.number() });

/** Defaults replace fields that an older service does not send. */
const ParticipantFactsSchema = z.object({
  agent: z.string(),
  status: z.string().default(""),
  took_part: z.boolean().default(true),
  error: z.object({ code: z.string(), message: z.string() }).nullish(),
});
const VoteResultFactsSchema = z.object({
  votes: z.number(),
  of: z.number(),
  voters: z.array(z.string()).default([]),
  unanimous: z.boolean().default(false),
});

const AttemptFactsSchema = z.object({
  /** Label of the winning answer. */
  label: z.string().nullish(),
  tie: z.boolean().default(false),
  vote_result: VoteResultFactsSchema.nullish(),
  presentation: z
    .object({
      agent: z.string(),
      source: z.string(),
      fallback: z.string().nullish(),
      changed_files: z.number().optional(),
    })
    .nullish(),
  finish_reason: z.string().nullish(),
  answers: z
    .array(
      z.object({
        agent: z.string(),
        label: z.string(),
        left_out: z
          .object({ count: z.number(), paths: z.array(z.string()).default([]) })
          .optional(),
      }),
    )
    .default([]),
});

/** One turn of a session. */
export const TurnFactsSchema = z.object({
  session_id: z.string(),
  turn: z.int(),
  status: z.string(),
  parent_turn: z.int().nullish(),
  question: z.string(),
  overrides: OverridesSchema.optional(),
  answer: z.string().nullable(),
  winner: z.string().nullable(),
  label: z.string().nullish(),
  finish_reason: z.string().optional(),
  agents: z.array(ParticipantFactsSchema).default([]),
  votes: z.array(VoteFactsSchema).default([]),
  attempts: z.array(AttemptFactsSchema).default([]),
  citations: z.array(z.object({ url: z.string(), title: z.string() })).default([]),
  usage: UsageFactsSchema,
  reserved_tokens: z.number().default(0),
  ...costFacts,
  error: z
    .object({
      message: z.string(),
      agents: z.array(z.object({ agent: z.string(), message: z.string() })).default([]),
    })
    .nullish(),
  partial: z.object({ answer: z.string().nullish(), text: z.string().nullish() }).nullish(),
  /** What the agents read of earlier turns. Omitted if they read all of it in full. */
  history: z
    .object({
      summary_through: z.int().nullish(),
      written_by: z.string().nullish(),
      cut: z.object({ message: z.string() }).nullish(),
    })
    .optional(),
});
export type TurnFacts = z.infer<typeof TurnFactsSchema>;

/** One answer. */
export const AnswerTextSchema = z.object({
  label: z.string(),
  agent: z.string().optional(),
  content: z.string(),
});
export type AnswerText = z.infer<typeof AnswerTextSchema>;

export const CancelResultSchema = z.object({
  turn: z.int().optional(),
  status: z.string().optional(),
});
export type CancelResult = z.infer<typeof CancelResultSchema>;

const listOf = <T>(item: z.ZodType<T>) =>
  z.object({ data: z.array(item), has_more: z.boolean().default(false) });

/** Sessions, newest first. */
export const SessionListSchema = listOf(
  z.object({ id: z.string(), created_at: z.number(), question_preview: z.string().default("") }),
);
export type SessionList = z.infer<typeof SessionListSchema>;

/** The included teams. */
export const TeamListSchema = listOf(
  z.object({
    name: z.string(),
    title: z.string().default(""),
    agents: z.array(z.object({ id: z.string(), model: z.string().default("") })).default([]),
    default: z.boolean().default(false),
    runnable: z.boolean().default(true),
    missing: z.array(z.object({ detail: z.string(), code: z.string().optional() })).default([]),
  }),
);
export type TeamList = z.infer<typeof TeamListSchema>;

/** The result of validating a config. */
export const VerdictSchema = z.object({
  runnable: z.boolean(),
  errors: z.array(FaultSchema).default([]),
  refusals: z.array(FaultSchema).default([]),
  warnings: z.array(FaultSchema).default([]),
});
export type Verdict = z.infer<typeof VerdictSchema>;

const KeyFactsSchema = z.object({
  id: z.string(),
  name: z.string().nullish(),
  scopes: z.array(z.string()).default([]),
  created_at: z.number().nullish(),
  expires_at: z.number().nullish(),
  last_used_at: z.number().nullish(),
  revoked_at: z.number().nullish(),
});
/** Keys of the caller's tenant, without their secrets. */
export const KeyListSchema = listOf(KeyFactsSchema);
export type KeyList = z.infer<typeof KeyListSchema>;
/** A new key. No later response contains its secret. */
export const NewKeySchema = KeyFactsSchema.extend({ key: z.string() });
export type NewKey = z.infer<typeof NewKeySchema>;

/** The value of JSON text; `undefined` if the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
