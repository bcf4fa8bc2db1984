import type { SessionStub } from "../../durable-objects/session-api";
import type { ConfigContext } from "../config/parse-team";
import type { Principal } from "../tenancy/principal";
import type { StoredSessions } from "./session-index";
import type { TenancyServices } from "./tenancy-services";
import type { EvalServices } from "./eval-runs";

export type { SessionStub } from "../../durable-objects/session-api";

/** Everything routes need from the deployment; made in `worker.ts`. */
export type Services = {
  /** Of the caller's tenant only: another's session of the same id is another object. */
  session(caller: Principal, id: string): SessionStub;
  tenancy: TenancyServices;
  config: ConfigContext;
  evals: EvalServices;
  stored: StoredSessions;
  /** Teams on offer: name → YAML. */
  teams: Readonly<Record<string, string>>;
  /** Whether requests to loopback addresses need no key. */
  openOnLoopback: boolean;
};
