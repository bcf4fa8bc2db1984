import type { OperatorVariables } from "../providers/hosts";
import type { AddressRules } from "../outgoing/address-rules";
import type { SecretBinding } from "../protocol/api/secrets";
import type { CommandPlace } from "../tools/shell";
import type { Served } from "./needs";

/** A secret for tool servers, and where it may be sent. */
export type ToolSecret = { name: string; bindings: readonly SecretBinding[] };

/** The rules for addresses of tools and tool servers. */
export const toolAddressRules = ({
  allowedToolOrigins = [],
  ownOrigins,
}: ConfigContext): AddressRules => ({
  allowedOrigins: allowedToolOrigins,
  ownOrigins,
  variable: "ALLOWED_TOOL_ORIGINS",
});

/** What the operator of this deployment has and allows: names of stored keys, never keys. */
export type ConfigContext = {
  storedKeys: readonly string[];
  allowedOrigins: readonly string[];
  /** Exact origins that tools and tool servers may have although they are not public https; absent: none. */
  allowedToolOrigins?: readonly string[];
  /** Origins of this service itself, which no team may ask; absent: not known here. */
  ownOrigins?: readonly string[];
  /** Endpoints and accounts of the operator's, by the names in `OPERATOR_VARIABLES`. */
  variables: OperatorVariables;
  /** Why the service cannot keep a key of a caller's, as a sentence with what to do; absent: it can. */
  literalKeyProblem?: string;
  /** Secrets for tool servers that serve the caller's tenant: its own, and the operator's. Absent: none. */
  toolSecrets?: readonly ToolSecret[];
  /** Addresses of tools of which the operator says that a call may be sent twice, with all that lies below them; absent: none. */
  repeatableTools?: readonly string[];
  /** Where agents' commands run; absent: in the service. */
  commands?: CommandPlace;
  /** What the operator says that a container has at most: MB of memory, processors; null, or absent: nothing is said. */
  containers?: { memoryMb: number | null; cpus: number | null };
  /** Whether agents with a shell may have JavaScript run; absent: they may not. */
  javascript?: boolean;
  /** Names of what the caller has uploaded; absent: not known here, so that any name may be one. */
  contexts?: { has(name: string): boolean };
  /** Names of what comes with the question; absent: nothing does. */
  attached?: readonly string[];
  /** Which features sessions have; absent: those of this version. */
  served?: Served;
};
