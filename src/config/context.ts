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

/** Settings of this deployment for the check of a config. */
export type ConfigContext = {
  /** Names of the operator's keys that are set; never the keys themselves. */
  storedKeys: readonly string[];
  /** Origins that the operator allows for models although they are not public https. */
  allowedOrigins: readonly string[];
  /**
   * Exact origins that the operator allows for tools and tool servers although they are not public
   * https. Omitted: none.
   */
  allowedToolOrigins?: readonly string[];
  /** Origins of this service, which teams must not call. Omitted if unknown. */
  ownOrigins?: readonly string[];
  /** The operator's endpoints and accounts, by the names in `OPERATOR_VARIABLES`. */
  variables: OperatorVariables;
  /**
   * Why the service cannot store a caller's key, with advice. Omitted if it can store the key.
   */
  literalKeyProblem?: string;
  /**
   * Secrets for tool servers that the caller's tenant may use: the tenant's own and the operator's.
   * Omitted: none.
   */
  toolSecrets?: readonly ToolSecret[];
  /**
   * Address prefixes of tools whose calls may be repeated, as the operator declares. Omitted: none.
   */
  repeatableTools?: readonly string[];
  /** Where agents' commands run. Omitted: in the service. */
  commands?: CommandPlace;
  /**
   * The operator's limits of one container: MB of memory, number of CPUs. `null` or omitted: the
   * operator has not declared the limit.
   */
  containers?: { memoryMb: number | null; cpus: number | null };
  /** Whether agents with a shell may run JavaScript. Omitted: false. */
  javascript?: boolean;
  /** Names of the caller's uploads. Omitted: the names are unknown, and any name is accepted. */
  contexts?: { has(name: string): boolean };
  /** Names of the question's attachments. Omitted: none. */
  attached?: readonly string[];
  /** The features that sessions support. Omitted: the features of this version (`SERVED`). */
  served?: Features;
};
