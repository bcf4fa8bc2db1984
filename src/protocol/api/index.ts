/**
 * Requests and responses of the service's own routes, shared by the API, its OpenAPI page and the
 * clients. A request with an unknown field is refused. Later versions may add fields to responses.
 */
export { FinishReasonSchema, TurnStatusSchema } from "./figures";
export { IdSchema, LabelSchema } from "./ids";
export { type Fault, FaultSchema, type Problem, ProblemSchema } from "./problem";
export {
  type AskedQuestion,
  MAX_QUESTION_CHARS,
  QuestionSchema,
  textOfQuestion,
  type CompactRequest,
  CompactRequestSchema,
  ConfigObjectSchema,
  type RunRequest,
  RunRequestSchema,
  type RunResponse,
  RunResponseSchema,
  type TurnRequest,
  TurnRequestSchema,
} from "./run";
export { AgentStateSchema, type SessionStatus, SessionStatusSchema } from "./session-status";
export {
  AnswerSummarySchema,
  AttemptSchema,
  ParticipantSchema,
  type TurnResponse,
  TurnResponseSchema,
  type TurnSummary,
  TurnSummarySchema,
  VoteSchema,
} from "./turn";
