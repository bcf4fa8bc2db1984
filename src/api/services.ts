import type { SessionStub } from "../../durable-objects/session/session-api";
import type { SessionIndex } from "../../d1/session-index";
import type { StartClaims } from "../../d1/start-claims";
import type { ConfigContext } from "../config/parse-team";
import type { Principal } from "../tenancy/principal";
import type { TenancyServices } from "./tenancy-services";
import type { ContextServices } from "./context-services";
import type { SecretServices } from "./secret-services";
import type { EvalServices } from "./eval-services";

export type { SessionStub } from "../../durable-objects/session/session-api";

/** Everything routes need from the deployment; made in `worker.ts`. */
export type Services = {
  /** Of the caller's tenant only: another's session of the same id is another object. */
  session(caller: Principal, id: string): SessionStub;
  tenancy: TenancyServices;
  /** Of the deployment; `configFor` has also what is a tenant's. */
  config: ConfigContext;
  secrets: SecretServices;
  evals: EvalServices;
  contexts: ContextServices;
  stored: StoredSessions;
  /** Teams on offer: name → YAML. */
  teams: Readonly<Record<string, string>>;
  /** Which code answers, and which deployment of it; null where the platform tells none. */
  version: { version: string; deployment: string | null };
  /** Whether requests to loopback addresses need no key. */
  openOnLoopback: boolean;
};

/** What routes need of what lies outside the sessions' objects. */
export type StoredSessions = {
  index: SessionIndex;
  claims: StartClaims;
  /** Erases all files of a session; may be done again. */
  eraseFiles(tenant: string, id: string): Promise<void>;
};
