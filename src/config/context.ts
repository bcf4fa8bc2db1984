import type { OperatorVariables } from "../providers/hosts";
import type { AddressRules } from "../outgoing/address-rules";
import type { SecretBinding } from "../protocol/api/secrets";
import type { CommandPlace } from "../tools/shell";
import type { Features } from "./needs";

/** A secret for tool servers with its bindings. */
export type ToolSecret = { name: string; bindings: readonly SecretBinding[] };

/** Address rules for tools and tool servers. */
export const toolAddressRules = ({
  allowedToolOrigins = [],
  ownOrigins,
}: ConfigContext): AddressRules => ({
  allowedOrigins: allowedToolOrigins,
  ownOrigins,
  variable: "ALLOWED_TOOL_ORIGINS",
});

/** Settings of this deployment: names of stored keys (never the keys) and permissions. */
export type ConfigContext = {
  storedKeys: readonly string[];
  allowedOrigins: readonly string[];
  /**
   * Exact origins allowed for tools and tool servers although they are not public https. Omitted:
   * none.
   */
  allowedToolOrigins?: readonly string[];
  /** Origins of this service, which teams must not call. Omitted if unknown. */
  ownOrigins?: readonly string[];
  /** The operator's endpoints and accounts, by the names in `OPERATOR_VARIABLES`. */
  variables: OperatorVariables;
  /**
   * Why the service cannot store a caller's key, as a sentence with a remedy. Omitted if it can.
   */
  literalKeyProblem?: string;
  /**
   * Secrets for tool servers that the caller's tenant may use: its own and the operator's. Omitted:
   * none.
   */
  toolSecrets?: readonly ToolSecret[];
  /** Addresses below which the operator declares tool calls repeatable. Omitted: none. */
  repeatableTools?: readonly string[];
  /** Where agents' commands run. Omitted: in the service. */
  commands?: CommandPlace;
  /**
   * The operator's limits of a container: MB of memory, processors. `null` or omitted: not
   * declared.
   */
  containers?: { memoryMb: number | null; cpus: number | null };
  /** Whether agents with a shell may run JavaScript. Omitted: false. */
  javascript?: boolean;
  /** Names of the caller's uploads. Omitted if unknown; then any name is accepted. */
  contexts?: { has(name: string): boolean };
  /** Names of the question's attachments. Omitted: none. */
  attached?: readonly string[];
  /** The features of sessions. Omitted: those of this version. */
  served?: Features;
};
