import { answerFilesPath, runLinks, configPath, SESSIONS_PATH } from "../../protocol/paths";

/** Examples in the OpenAPI document. A test checks each value against its schema. */

const ID = "session_01m7y9056benq60tp4hq1b3dey";
const QUESTION = "Which database suits a shop with 40 orders a day?";
const ANSWER = "PostgreSQL on one small machine, backed up every night.";
const STARTED = 1_795_000_000;
const YAML =
  "agents:\n  - id: analyst\n    backend: {type: chatcompletion, model: model-a, base_url: https://models.example.com/v1}\n";
const USAGE = {
  input_tokens: 5_210,
  output_tokens: 1_480,
  reasoning_tokens: 610,
  cached_tokens: 2_048,
};
const SPENT = { tokens: 6_690, reported_tokens: 6_690, reserved_tokens: 0 };
const WARNING = {
  pointer: "/ui/display_type",
  line: 9,
  column: 3,
  detail:
    "`display_type` is ignored: it configures a local terminal; follow a run with its event stream (GET /api/sessions/{id}/events).",
  code: "no_effect",
};
const REFUSAL = {
  pointer: "/orchestrator/context_paths",
  line: 12,
  column: 3,
  detail:
    "This team needs files of your machine (`~/site`): a hosted service cannot read paths on your machine, and no upload has this name. Upload them first. Run `massgen-edge push ~/site --name site` (then write `site` for it).",
  code: "not_served",
  need: "host_context_path",
};
const VOTE = {
  agent: "critic",
  label: "agent3.1",
  voted_for_agent: "analyst",
  reason: "It counts what a backup costs.",
  valid: true,
  voided_by: null,
};
const VOTE_RESULT = { votes: 2, of: 2, voters: ["analyst", "critic"], unanimous: false };
const AGENTS = [
  { agent: "analyst", status: "completed", took_part: true, error: null },
  { agent: "critic", status: "completed", took_part: true, error: null },
  {
    agent: "builder",
    status: "error",
    took_part: false,
    error: { code: "bad_credentials", message: "Incorrect API key provided (401)." },
  },
];
const PREVIEW = {
  question_preview: QUESTION,
  team: AGENTS.map(({ agent }) => ({ agent, provider: "custom", model: `model-of-${agent}` })),
};
const TURN = {
  turn: 1,
  parent_turn: null,
  status: "completed",
  started_at: STARTED,
  ended_at: STARTED + 41.5,
  finish_reason: "consensus",
  usage: USAGE,
  ...SPENT,
  cost_usd: 0.0312,
  cost_usd_known: 0.0312,
  unreported_cost_usd: 0,
};

export const RUN_REQUEST = {
  question: QUESTION,
  config: "one-provider",
  budget: { max_cost_usd: 0.5 },
};
export const COMPACT_REQUEST = { budget: { max_cost_usd: 0.1 } };
export const TURN_REQUEST = {
  question: "And with 40,000 orders a day?",
  overrides: { agents: ["analyst", "critic"], quick: true },
};
export const RUN = { session_id: ID, turn: 1, status: "running", links: runLinks(ID, 1) };
export const RUN_WARNED = { ...RUN, warnings: [WARNING] };
const QUEUED_ID = "queued_01m7y9c4k2vtq8r1d5h6w3xj0n";
export const QUEUED_TURN = { session_id: ID, id: QUEUED_ID, position: null, turn: 2 };
export const QUEUE = {
  session_id: ID,
  held: null,
  waiting: { code: "turn_running", message: "A turn is running.", retry_at: null },
  data: [
    {
      id: QUEUED_ID,
      position: 1,
      question_preview: "And with 40,000 orders a day?",
      attachments: 0,
      parent_turn: null,
      interrupts: false,
      created_at: STARTED + 12,
    },
  ],
};
export const CANCELLED = { session_id: ID, turn: 1, status: "cancelled" };
export const TEAM_YAML = YAML;

export const STREAM =
  'retry: 2000\n\nevent: turn.started\nid: 2\ndata: {"type":"turn.started","sequence_number":2,"session_id":"session_01m7y9056benq60tp4hq1b3dey","turn":1, …}\n\n';

export const SESSION_LIST = {
  object: "list",
  data: [
    {
      id: ID,
      created_at: STARTED,
      question_preview: QUESTION,
      links: { session: `${SESSIONS_PATH}/${ID}`, events: `${SESSIONS_PATH}/${ID}/events` },
    },
  ],
  first_id: ID,
  last_id: ID,
  has_more: false,
};

export const EVENT_LIST = {
  object: "list",
  data: [
    {
      type: "vote.cast",
      sequence_number: 42,
      session_id: ID,
      at: STARTED * 1_000,
      turn: 1,
      attempt: 1,
      agent: "critic",
      round: 2,
      tool_call: "call_7",
      label: "agent1.1",
      revision: 1,
      reason: VOTE.reason,
    },
  ],
  first_id: 42,
  last_id: 42,
  has_more: true,
};

export const STATUS = {
  meta: {
    session_id: ID,
    turn: 1,
    question: QUESTION,
    start_time: STARTED,
    last_updated: STARTED + 41.5,
    elapsed_seconds: 41.5,
    last_sequence: 118,
  },
  coordination: {
    phase: "done",
    attempt: 1,
    active_agent: null,
    completion_percentage: 100,
    is_final_presentation: false,
  },
  agents: {
    critic: {
      status: "completed",
      answer_count: 1,
      latest_answer_label: "agent3.1",
      left_out: 0,
      vote_cast: {
        voted_for_agent: "analyst",
        voted_for_label: "agent1.1",
        reason_preview: VOTE.reason,
      },
      times_restarted: 1,
      last_activity: STARTED + 30,
      error: null,
      input_required: null,
      provider: "custom",
      model: "model-c",
      round: 2,
      stale_votes: 0,
      tokens: 2_210,
      reported_tokens: 2_210,
      reserved_tokens: 0,
      cost_usd: 0.0041,
      cost_usd_known: 0.0041,
      hosted_uses: {},
    },
  },
  results: {
    votes: { "agent1.1": 2 },
    vote_result: VOTE_RESULT,
    winner: "analyst",
    final_answer_preview: ANSWER,
    finish_reason: "consensus",
  },
  turns: [{ ...TURN, ...PREVIEW }],
  head: 1,
  usage: USAGE,
  ...SPENT,
  cost_usd: 0.0312,
  cost_usd_known: 0.0312,
};

export const TURN_LIST = {
  object: "list",
  data: [{ ...TURN, ...PREVIEW }],
  first_id: 1,
  last_id: 1,
  has_more: false,
  head: 1,
};
export const HEAD = { session_id: ID, head: 1 };

export const TURN_RESPONSE = {
  ...TURN,
  session_id: ID,
  question: QUESTION,
  answer: ANSWER,
  winner: "analyst",
  label: "agent1.1",
  citations: [],
  agents: AGENTS.map((agent) => ({
    ...agent,
    provider: "custom",
    model: `model-of-${agent.agent}`,
  })),
  hosted_uses: {},
  votes: [VOTE],
  attempts: [
    {
      attempt: 1,
      agents: AGENTS,
      winner: "analyst",
      label: "agent1.1",
      tally: { "agent1.1": 2 },
      tie: false,
      vote_result: VOTE_RESULT,
      finish_reason: "consensus",
      answers: [{ agent: "analyst", label: "agent1.1", revision: 1, origin: "tool" }],
      votes: [VOTE],
      presentation: {
        agent: "analyst",
        label: "agent1.final",
        source: "presentation",
        fallback: null,
      },
      restart: null,
    },
  ],
  error: null,
  partial: null,
};

export const ANSWER_TEXT = {
  label: "agent1.1",
  attempt: 1,
  agent: "analyst",
  revision: 1,
  content: ANSWER,
  origin: "tool",
  at: STARTED * 1_000,
  files: answerFilesPath({ sessionId: ID, turn: 1, label: "agent1.1", attempt: 1 }),
};

export const SESSION_FILES = {
  object: "list",
  label: "agent2.final",
  attempt: 1,
  files: 1,
  bytes: 16,
  data: [
    {
      path: "src/sum.sh",
      sha256: "8d9ac2a0b6b1d3d0f1f5a5fb4d0a1d0b7f6c0b4a4d1b7e5a3f0d6c9b8a7e6f50",
      size: 16,
      executable: true,
      content_type: "text/plain",
    },
  ],
};

export const CONFIG_CHECK_REQUEST = { config_yaml: YAML };
export const CONFIG_CHECK = {
  runnable: false,
  errors: [],
  refusals: [REFUSAL],
  warnings: [WARNING],
};
export const CONFIG_LIST = {
  object: "list",
  data: [
    {
      name: "one-provider",
      title: "Three models of one provider, for users with one key.",
      agents: [{ id: "analyst", type: "chatcompletion", provider: "custom", model: "model-a" }],
      keys: [{ names: ["PROVIDER_API_KEY"], set: true }],
      default: false,
      runnable: true,
      missing: [],
      links: { config: configPath("one-provider") },
    },
  ],
  first_id: "one-provider",
  last_id: "one-provider",
  has_more: false,
};
