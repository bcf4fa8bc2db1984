import type { ProblemCode } from "../../src/config/problems";
import type { EndedBy, FailureClass } from "../../src/protocol/events";

/** What each code of a config problem means. */
export const PROBLEM_MEANINGS: Readonly<Record<ProblemCode, string>> = {
  syntax: "The YAML is not valid.",
  too_large: "The config is longer than the limit.",
  too_deep: "The config is nested deeper than the limit.",
  unknown_key: "No such key. The message suggests the nearest one.",
  old_keyword: "A key of MassGen's first version. The message has the current form.",
  not_served:
    "The config is valid, but this service does not support the feature; `need` names it.",
  missing: "A required key is missing.",
  model_unknown: "The provider has no known model of this name.",
  wrong_type: "The value has the wrong type.",
  out_of_range: "The value is outside its bounds.",
  not_allowed: "The key or value is not allowed in this place.",
  duplicate: "A name is used twice.",
  base_url_refused: "The address is not public https and the operator does not allow it.",
  key_not_set: "The provider's key is not set.",
  key_unknown: "`${NAME}` names no key of the operator.",
  key_bound_elsewhere: "The key may not be sent to this address.",
  key_not_kept:
    "The config contains a key, and the service cannot encrypt it without `SEALING_KEYS`.",
  no_effect: "A warning: the key has no effect here.",
  no_key: "A warning: requests to this address carry no key.",
  price_unknown: "The model's price is unknown, so only `max_tokens` can limit a run.",
  research_calls:
    "A warning: the model uses hosted tools in separate calls, because it cannot combine them with functions.",
};

/** What follows a failed call of each class. */
export const FAILURE_MEANINGS: Readonly<Record<FailureClass, string>> = {
  transient: "429, 5xx, a cut stream or a timeout. Retried with back-off, at most 5 tries.",
  interrupted: "The service restarted. Retried; the try does not count.",
  quota:
    "The provider's quota is exhausted, or it requests a wait of more than 60 s. The round fails.",
  context_too_long:
    "The conversation is too long for the model. Summarized once, then the round fails.",
  bad_credentials: "The provider rejects the key. The agent fails.",
  unknown_model: "The provider has no such model. The agent fails.",
  bad_request:
    "The provider rejects the request. The agent fails on its first call; later the round fails.",
  content_filter: "The provider withheld the reply. The round fails.",
  refusal: "The model refused. The round fails.",
  cancelled: "The call was cancelled.",
};

/** Why coordination ended. */
export const ENDED_BY_MEANINGS: Readonly<Record<EndedBy, string>> = {
  consensus: "Every live agent holds a valid vote.",
  deadline: "The time for coordination is over.",
  budget: "Nothing runs, and the budget has no room for another call.",
  no_agents: "No agent is left.",
  cancelled: "The user cancelled the turn.",
  skipped: "There was no coordination: one agent, or `skip_coordination_rounds`.",
};
