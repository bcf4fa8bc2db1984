import type { OperatorVariables } from "../providers/hosts";

/** What the operator of this deployment has and allows: names of stored keys, never keys. */
export type ConfigContext = {
  storedKeys: readonly string[];
  allowedOrigins: readonly string[];
  /** Endpoints and accounts of the operator's, by the names in `OPERATOR_VARIABLES`. */
  variables: OperatorVariables;
  /** Why the service cannot keep a key of a caller's, as a sentence with what to do; absent: it can. */
  literalKeyProblem?: string;
};
